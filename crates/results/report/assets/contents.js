// The contents: folded where there is no room beside the page, and with a mark at what is being read.

addEventListener("DOMContentLoaded", () => {
  const nav = document.querySelector(".contents");
  const [fold, here] = [nav.querySelector("details"), nav.querySelector(".here")];
  document.documentElement.classList.add("scripts");
  const beside = matchMedia("(min-width: 90rem)");
  const folded = () => {
    fold.open = beside.matches;
  };
  beside.addEventListener("change", folded);
  folded();

  const links = new Map();
  for (const link of nav.querySelectorAll("a")) {
    const target = document.getElementById(link.hash.slice(1));
    if (target) links.set(target, link);
    link.addEventListener("click", () => folded());
  }
  let current = null;
  const mark = () => {
    // The last that begins above the upper third of the window.
    let found = null;
    for (const [target, link] of links) {
      if (target.getBoundingClientRect().top <= innerHeight / 3) found = link;
    }
    if (found === current) return;
    current?.removeAttribute("aria-current");
    found?.setAttribute("aria-current", "location");
    current = found;
    const release = found?.closest("ul ul")?.previousElementSibling;
    here.textContent = found ? `${release ? `${release.textContent}: ` : ""}${found.textContent}` : "";
    if (found && beside.matches) {
      const [box, at] = [nav.getBoundingClientRect(), found.getBoundingClientRect()];
      if (at.top < box.top || at.bottom > box.bottom) nav.scrollTop += at.top - box.top - box.height / 2;
    }
  };
  let waits = false;
  const later = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      mark();
    });
  };
  addEventListener("scroll", later, { passive: true });
  mark();
});
