import { readFileSync, statSync } from 'node:fs';
import { keyDetector } from '../client/api-key.ts';
import { userError } from '../failures/user-error.ts';
import type { Settings } from '../settings/settings.ts';
import { readEmbeds } from '../snippets/file-embeds.ts';
import { listSiteFiles, type SiteFile } from './scan-site.ts';

// File systems keep times by a coarser clock than `Date.now()`.
const clockGranularity = 50;

/**
 * Checks the files that other integrations wrote after snippets were inlined. They are not inlined: copies, compressed
 * files and lists for service workers exist by then.
 *
 * @param since in milliseconds since the epoch.
 * @throws AstroError if one contains an embed or the API key.
 */
export function checkLateFiles(
  directory: string,
  { apiKey, exclude }: Pick<Settings, 'apiKey' | 'exclude'>,
  since: number,
): void {
  const { scannable, others } = listSiteFiles(directory, exclude);
  const isLate = ({ file }: SiteFile) => statSync(file).ctimeMs >= since - clockGranularity;
  const containsKey = apiKey === undefined ? () => false : keyDetector(apiKey);
  const lateScannable = scannable.filter(isLate);
  const withKey = [...lateScannable, ...others.filter(isLate)].filter(({ file }) =>
    containsKey(readFileSync(file)),
  );
  if (withKey.length > 0) {
    const names = withKey.map(({ name }) => name).join(', ');
    throw userError('published-key', `Another integration wrote the API key into ${names}.`);
  }
  const withEmbed = lateScannable.filter(({ name, file, kind }) => {
    const { embeds, invalid } = readEmbeds(name, readFileSync(file), kind, new Map());
    return embeds.length + invalid.length > 0;
  });
  if (withEmbed.length === 0) return;
  const names = withEmbed.map(({ name }) => name).join(', ');
  throw userError(
    'late-embed',
    `Another integration wrote an embed into ${names} after snippets were inlined.`,
  );
}
