import { readFileSync, statSync } from 'node:fs';
import { certificateFlaw, certificatesIn } from '../client/certificates.ts';
import { userError } from '../failures/errors.ts';
import { quote, reasonOf } from '../text/clean-text.ts';
import { decodeText } from './decode-text.ts';
import { environmentVariables } from './variable-names.ts';

const variable = environmentVariables.caFile;
const hint =
  'Name a file with certificates (PEM) of the authorities to trust. A relative path begins at the folder of the .env files.';

/**
 * Reads the certificates of the file that SNIPPETS_CA_FILE names.
 *
 * @throws UserError for a file that has no certificates, or more than certificates. Nothing of it is shown.
 */
export function readCaFile(file: string): string[] {
  // The text may be that of a private key, so no message shows it.
  if (file.includes('-----BEGIN')) {
    const message = `${variable} has to be the path of a file, and is the text of a certificate or key.`;
    throw userError('invalid-options', message, hint);
  }
  const fail = (flaw: string) =>
    userError('invalid-options', `${variable} names ${quote(file)}, which ${flaw}.`, hint);

  let text: string;
  try {
    // A pipe or a device could block the process for ever.
    if (!statSync(file).isFile()) throw new Error('is no file');
    text = decodeText(readFileSync(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw fail(reasonOf(error));
    throw fail(code === 'ENOENT' ? 'does not exist' : `could not be read: ${code}`);
  }
  const flaw = certificateFlaw(text);
  if (flaw !== undefined) throw fail(flaw);
  return certificatesIn(text);
}
