"use strict";
// Handing files to whoever sits in front of a page: of the report and of the live page alike.
const Files = {
  save: (name, address) => {
    const link = document.createElement("a");
    Object.assign(link, { download: name, href: address });
    document.body.append(link);
    link.click();
    link.remove();
  },
  asText: (type, content) => `data:${type};charset=utf-8,` + encodeURIComponent(content),
  // A drawing in twice its size, on white.
  image: (svg) =>
    new Promise((done, fail) => {
      const drawn = new Image();
      drawn.onload = () => {
        const board = document.createElement("canvas");
        [board.width, board.height] = [2 * drawn.width, 2 * drawn.height];
        const pen = board.getContext("2d");
        pen.fillStyle = "#fff";
        pen.fillRect(0, 0, board.width, board.height);
        pen.drawImage(drawn, 0, 0, board.width, board.height);
        done(board.toDataURL("image/png"));
      };
      drawn.onerror = () => fail(new Error("the drawing could not be read"));
      drawn.src = Files.asText("image/svg+xml", svg);
    }),
};
