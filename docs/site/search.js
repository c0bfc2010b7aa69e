// What the search of the site finds: `node docs/site/search.js build/site/html QUERY…` prints the page of each hit of
// each query, the best first, as JSON. Programs and index are those of the site; what they ask a browser for is below.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [html, ...queries] = process.argv.slice(2);
const element = { childNodes: [], dataset: {}, firstChild: null };
const document = { addEventListener() {}, documentElement: element, getElementById: () => element, querySelectorAll: () => [] };
const page = vm.createContext({
  DOCUMENTATION_OPTIONS: { FILE_SUFFIX: ".html", LINK_SUFFIX: ".html", SHOW_SEARCH_SUMMARY: false },
  SPHINX_HIGHLIGHT_ENABLED: false,
  URLSearchParams,
  _: text => text,
  _ready() {},
  console,
  document,
  location: { protocol: "http:", search: "" },
});
page.window = page;
const load = file => vm.runInContext(fs.readFileSync(path.join(html, file), "utf-8"), page, { filename: file });
load("_static/base-stemmer.js");
load("_static/english-stemmer.js");
load("_static/language_data.js");
load("_static/searchtools.js");
load("searchindex.js");
const found = vm.runInContext("query => Search._performSearch(...Search._parseQuery(query))", page);
const pages = query => {
  page.location.search = `?q=${encodeURIComponent(query)}`;
  return found(query).reverse().map(([name]) => name);
};
console.log(JSON.stringify(Object.fromEntries(queries.map(query => [query, pages(query)]))));
