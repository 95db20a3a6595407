interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\u001b[2K';
const EVERY_MS = 1_000;

/** Shows that something takes time: on a terminal one line with the seconds, elsewhere one line when it begins. */
export function createWaitProgress(what: string, output: Output): { begin(): void; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  let seconds = 0;
  const show = () => {
    output.write(`${CLEAR_LINE}${what}: ${seconds} s`);
    seconds += 1;
  };
  return {
    begin() {
      if (output.isTTY !== true) {
        output.write(`${what}.\n`);
        return;
      }
      show();
      timer = setInterval(show, EVERY_MS);
    },
    end() {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      output.write(CLEAR_LINE);
    },
  };
}
