// Measures the pictures of projects at several widths: none is larger than its pixels, none is cut, those of a row are of one height.

import { asked, open, report } from "./browser.mjs";

const WIDTHS = [390, 768, 1280, 1920];
// Below this width of the window pictures stand one below the other.
const ROWS_FROM = 640;

const found = {};
for (const slug of asked.slugs) {
  for (const width of WIDTHS) {
    const { page, context, faults } = await open({ base: asked.base, width });
    await page.goto(`/projects/${slug}`);
    const rows = await page.evaluate(async () => {
      const pictures = [...document.querySelectorAll("figure img")];
      for (const picture of pictures) picture.loading = "eager";
      await Promise.all(pictures.map((picture) => picture.decode()));
      const measured = async (picture) => {
        // How many pixels the file that was chosen has: those of a picture with a srcset are others.
        const file = new Image();
        file.src = picture.currentSrc;
        await file.decode();
        const { width, height, right } = picture.getBoundingClientRect();
        return { src: picture.currentSrc, width, height, right, pixels: file.naturalWidth, proportion: file.naturalWidth / file.naturalHeight };
      };
      const places = [...document.querySelectorAll(".hero, .row")];
      return Promise.all(places.map((place) => Promise.all([...place.querySelectorAll("img")].map(measured))));
    });
    if (rows.length === 0) faults.push("there is no picture");
    for (const one of rows.flat()) {
      if (one.width > one.pixels + 0.5) faults.push(`${one.src} of ${one.pixels} pixels is shown ${one.width} wide`);
      if (Math.abs(one.width / one.height / one.proportion - 1) > 0.01) faults.push(`${one.src} is shown ${one.width} by ${one.height}`);
      if (one.right > width + 0.5) faults.push(`${one.src} ends at ${one.right}`);
    }
    for (const row of width < ROWS_FROM ? [] : rows) {
      const heights = row.map(({ height }) => height);
      if (Math.max(...heights) - Math.min(...heights) > 1) faults.push(`a row has pictures of the heights ${heights}`);
    }
    found[`${slug} at ${width}`] = faults;
    await context.close();
  }
}
await report(found);
