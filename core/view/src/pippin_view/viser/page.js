// What Pippin adds to the page of viser. BASE is its secret path.
history.replaceState = () => {};  // it would append the address a second time

{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const tell = () => fetch(`BASE/${dark.matches ? "dark" : "light"}`);
  dark.onchange = tell;
  tell();
}

{  // The name of what is under the pointer: the program answers which body a ray meets.
  const PERIOD = 150;  // between two questions [ms]
  const label = document.createElement("div");
  label.id = "pippin-pointed";
  label.style.cssText = `position: fixed; z-index: 1000; pointer-events: none; padding: 2px 8px; border-radius: 4px;
    font: 13px system-ui, sans-serif; color: #fff; background: rgba(24, 28, 35, 0.85); white-space: nowrap`;
  let camera = null, pointer = null;

  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data, ...rest) {  // viser tells its own program where the camera is
    if (data?.message?.type === "ViewerCameraMessage") camera = data.message;
    return post.call(this, data, ...rest);
  };

  const ray = ({x, y, width, height}) => {
    const up = Math.tan(camera.fov / 2), [w, a, b, c] = camera.wxyz;
    const [p, q, r] = [(2 * x / width - 1) * up * width / height, (2 * y / height - 1) * up, 1];
    const turned = [
      p * (1 - 2 * (b * b + c * c)) + q * 2 * (a * b - w * c) + r * 2 * (a * c + w * b),
      p * 2 * (a * b + w * c) + q * (1 - 2 * (a * a + c * c)) + r * 2 * (b * c - w * a),
      p * 2 * (a * c - w * b) + q * 2 * (b * c + w * a) + r * (1 - 2 * (a * a + b * b)),
    ];
    return [...camera.position, ...turned.map(each => each / Math.hypot(...turned))];
  };
  const ask = async () => {
    try {
      if (pointer && camera && !document.hidden) {
        const answer = await fetch(`BASE/under/${ray(pointer).join(",")}`);
        label.textContent = answer.ok ? await answer.text() : "";
      }
    } catch {
      label.textContent = "";  // the program has ended
    }
    place();
    setTimeout(ask, PERIOD);
  };
  const place = () => {
    label.hidden = !pointer || !label.textContent;
    if (pointer) [label.style.left, label.style.top] = [`${pointer.left + 14}px`, `${pointer.top + 14}px`];
  };
  const follow = event => {
    const canvas = event.target?.closest?.("canvas"), box = canvas?.getBoundingClientRect();
    pointer = canvas && !event.buttons ? {
      x: event.clientX - box.left, y: event.clientY - box.top, width: box.width, height: box.height,
      left: event.clientX, top: event.clientY,
    } : null;
    place();
  };
  for (const type of ["pointermove", "pointerdown", "pointerup"]) addEventListener(type, follow, true);
  document.addEventListener("pointerleave", () => { pointer = null; place(); });
  addEventListener("DOMContentLoaded", () => { document.body.append(label); ask(); });
}
