import { join } from 'node:path';
import { rolldown } from 'rolldown';

let bundled: Promise<string> | undefined;

/**
 * The script of the code editor and the packages that it imports, in one file, so that a browser needs no network. It
 * is bundled when it is first asked for, which takes less than a second.
 */
export function editorScript(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const build = await rolldown({
    input: join(import.meta.dirname, 'assets/code-editor.js'),
    platform: 'browser',
  });
  const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false });
  await build.close();
  return output[0].code;
}
