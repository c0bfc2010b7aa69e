// A button on each block of code that copies it; of a session in a terminal it copies the commands alone.
document.addEventListener("DOMContentLoaded", () => {
  const wanted = text => {
    let goesOn = false;
    const lines = text.trimEnd().split("\n");
    const commands = lines.filter(line => {
      const isCommand = goesOn || line.startsWith("$ ");
      goesOn = isCommand && line.endsWith("\\");
      return isCommand;
    });
    return (commands.length ? commands : lines).map(line => line.replace(/^\$ /, "")).join("\n");
  };
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(wanted(block.querySelector("pre").textContent));
        button.textContent = "copied";
      } catch {
        button.textContent = "not permitted";
      }
      setTimeout(() => { button.textContent = "copy"; }, 2000);
    });
    block.append(button);
  }
});
