import { clearLine, cursorTo } from 'node:readline';
import { styleText } from 'node:util';

/** Shows how far something has come. */
export interface Progress {
  show(done: number): void;
  /** Takes the bar away, until it is shown again. */
  erase(): void;
}

interface Terminal extends NodeJS.WritableStream {
  isTTY?: boolean;
  columns?: number;
}

const barWidth = 24;
const secondsBetweenLines = 5;

/**
 * A bar that is drawn over itself on a terminal; elsewhere, a line now and then, so that a log shows that the
 * build is alive. Nothing is shown of what is done within a moment.
 */
export function showProgress(total: number, terminal: Terminal, log: (line: string) => void): Progress {
  return terminal.isTTY && !process.env['CI'] ? bar(total, terminal) : lines(total, log);
}

function bar(total: number, terminal: Terminal): Progress {
  let drawnAt = 0;
  const erase = () => {
    cursorTo(terminal, 0);
    clearLine(terminal, 0);
  };
  return {
    show(done) {
      const now = performance.now();
      if (done < total && now - drawnAt < 50) return;
      drawnAt = now;
      const filled = Math.round((done / total) * barWidth);
      const drawn = styleText('green', '━'.repeat(filled)) + styleText('dim', '━'.repeat(barWidth - filled));
      erase();
      terminal.write(`${drawn} ${done} of ${total} snippets`);
      // Back to the start, so that what others write meanwhile goes over the bar and not behind it.
      cursorTo(terminal, 0);
    },
    erase,
  };
}

function lines(total: number, log: (line: string) => void): Progress {
  let shownAt = performance.now();
  return {
    show(done) {
      const now = performance.now();
      if (now - shownAt < secondsBetweenLines * 1000) return;
      shownAt = now;
      log(`${done} of ${total} snippets`);
    },
    erase() {},
  };
}
