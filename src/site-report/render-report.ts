import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import { cleanText } from '../client/clean-text.ts';
import type { Manifest } from '../publish/manifest.ts';
import { reportRows } from './report-rows.ts';

// A snippet that is on every page of a large site: its names would be most of the report.
const pagesListed = 200;

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

/**
 * Writes the report as one HTML page that asks for nothing else: its policy allows its own style and script, and
 * no request. All text from outside is escaped by the template.
 */
export function renderReport(manifest: Manifest): string {
  const style = read('report.css');
  const script = read('sort-table.js');
  const rows = reportRows(manifest).map(({ params, pages, ...row }) => ({
    ...row,
    params: params === undefined ? '' : cleanText(params),
    pages: pages.slice(0, pagesListed),
    pageCount: pages.length,
  }));
  const contents = rows.flatMap(({ content }) => content ?? []);
  const count = (change: string) => rows.filter((row) => row.change === change).length;
  return new Eta({ autoEscape: true, autoTrim: false }).renderString(read('report.eta'), {
    manifest,
    rows,
    style,
    script,
    policy: `default-src 'none'; style-src ${sourceOf(style)}; script-src ${sourceOf(script)}`,
    totals: {
      snippets: manifest.snippets.length,
      pages: manifest.pages.length,
      embeds: manifest.pages.reduce((sum, { embeds }) => sum + embeds.length, 0),
      bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
      slowest: Math.max(0, ...contents.map(({ milliseconds }) => milliseconds)),
      changed: count('changed') + count('added') + count('gone'),
    },
    formatBytes,
    formatTime,
  });
}

function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

function formatBytes(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
}

/** In UTC, so that the report says the same wherever it is written and read. */
function formatTime(time: string | number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
