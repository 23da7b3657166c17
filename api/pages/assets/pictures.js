// Shows a picture of the page alone, as large as it is stored. The arrow keys lead to the others, a click or the button Zoom shows it at its
// full size, Escape closes. Without this script the link opens the picture itself.
function viewerOf(links) {
  const viewer = document.createElement("dialog");
  viewer.className = "viewer";
  viewer.setAttribute("aria-label", "Picture");
  const [stage, picture, bar, caption] = ["div", "img", "div", "p"].map((element) => document.createElement(element));
  stage.className = "stage";
  stage.append(picture);
  bar.className = "bar";
  caption.setAttribute("aria-live", "polite");
  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "quiet";
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
  };
  let at = 0;
  const show = (next) => {
    at = (next + links.length) % links.length;
    const link = links[at];
    const image = link.querySelector("img");
    picture.src = link.href;
    picture.alt = image.alt;
    const texts = [...link.closest("figure").querySelectorAll("figcaption > *")].map((text) => text.textContent.trim());
    caption.textContent = [links.length > 1 ? `${at + 1} of ${links.length}` : "", ...texts].filter(Boolean).join(" · ");
    zoom(false);
  };
  const zoom = (on) => {
    viewer.classList.toggle("zoomed", on);
    larger.setAttribute("aria-pressed", String(on));
    if (on) stage.scrollTo((stage.scrollWidth - stage.clientWidth) / 2, (stage.scrollHeight - stage.clientHeight) / 2);
  };
  const toggle = () => zoom(!viewer.classList.contains("zoomed"));
  const larger = button("Zoom", toggle);
  picture.addEventListener("click", toggle);
  const steps = links.length > 1 ? [button("Previous", () => show(at - 1)), button("Next", () => show(at + 1))] : [];
  bar.append(caption, ...steps, larger, button("Close", () => viewer.close()));
  viewer.append(bar, stage);
  viewer.addEventListener("keydown", (event) => {
    // In a picture at its full size, the arrow keys scroll.
    if (viewer.classList.contains("zoomed")) return;
    if (event.key === "ArrowLeft") show(at - 1);
    if (event.key === "ArrowRight") show(at + 1);
  });
  viewer.addEventListener("close", () => links[at].focus());
  document.body.append(viewer);
  return (index) => {
    show(index);
    viewer.showModal();
  };
}
const links = [...document.querySelectorAll("figure > a:has(> img)")];
let openAt;
links.forEach((link, index) => link.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  openAt ??= viewerOf(links);
  openAt(index);
}));
