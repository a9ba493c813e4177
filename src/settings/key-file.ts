import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { userError } from '../failures/errors.ts';
import { formatDuration } from '../text/format.ts';
import { decodeText } from './decode-text.ts';

/** How long a key file may take to end, in milliseconds: someone may have to unlock a password manager. */
const usualPatience = 10_000;
/** How often a pipe is asked for more, in milliseconds. */
const readInterval = 20;
/** A longer file is no key file, such as a device that never ends. */
const maxBytes = 64 * 1024;

/**
 * What was read from pipes, by path. A pipe gives its bytes once, as in `SNIPPETS_API_KEY_FILE=<(op read …)`, but Vite
 * reads the environment several times, and at the same time.
 */
const pipes = new Map<string, Promise<string>>();

/**
 * Reads the API key from a file, which may be a pipe.
 *
 * @param file its absolute path, which no message shows: someone may have set the variable to the key itself by mistake.
 * @param variable the variable that names the file.
 * @param patience how long a pipe may take, in milliseconds.
 * @returns `undefined` if the file does not exist.
 * @throws UserError if the file exists and cannot be read, or does not end in time.
 */
export async function readKeyFile(
  file: string,
  variable: string,
  patience: number = usualPatience,
): Promise<string | undefined> {
  try {
    // Editors end a file with a line break, which is not part of the key.
    return (await (pipes.get(file) ?? readOnce(file, patience))).replace(/\r?\n$/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const reason = code ?? message;
    throw userError('unreadable-key-file', `The file named by ${variable} could not be read: ${reason}.`);
  }
}

/** Reads a file that is no pipe again each time, since a dev server is to see a new key. */
async function readOnce(file: string, patience: number): Promise<string> {
  // Without O_NONBLOCK, which Windows lacks, opening a pipe would block the process until someone writes to it.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const isPipe = fstatSync(descriptor).isFIFO();
  const text = readToEnd(descriptor, isPipe, patience).finally(() => closeSync(descriptor));
  if (isPipe) {
    pipes.set(file, text);
    text.catch(() => pipes.delete(file));
  }
  return text;
}

async function readToEnd(descriptor: number, isPipe: boolean, patience: number): Promise<string> {
  const buffer = Buffer.alloc(maxBytes);
  const endsAt = performance.now() + patience;
  for (let length = 0; ; ) {
    const read = readAvailable(descriptor, buffer.subarray(length));
    length += read ?? 0;
    if (length === buffer.length) throw new Error(`it is longer than ${maxBytes / 1024} KiB`);
    // A pipe that nobody has opened for writing yet seems to end.
    if (read === 0 && (length > 0 || !isPipe)) return decodeKey(buffer.subarray(0, length));
    if (read) continue;
    if (performance.now() >= endsAt) {
      const time = formatDuration(patience, 'long');
      throw new Error(
        length > 0 ? `it did not end within ${time}` : `nothing was written to it within ${time}`,
      );
    }
    await sleep(readInterval);
  }
}

function decodeKey(bytes: Buffer): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    throw new Error(`it ${(error as Error).message}`);
  }
}

/** Reads what there is: 0 bytes at the end, `undefined` if more may come. */
function readAvailable(descriptor: number, into: Buffer): number | undefined {
  try {
    return readSync(descriptor, into);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}
