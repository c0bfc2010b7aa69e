"""Templates of plugin packages: folders whose files make a package that runs, with the plugin `demo`.

The file `template.toml` of a template has the text of each word: `@about@` in a file stands for the text `about`, and
`@kind@` for the name of the folder. Its `base`, "package:folder", is a folder with a `template.toml` below this one: a
package has the files and texts of both, and of two with one name those of the template.
"""
