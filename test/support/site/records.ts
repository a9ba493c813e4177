import { readFile, writeFile } from 'node:fs/promises';
import { parseCheckedJson, toCheckedJson } from '../../../src/files/checked-json.ts';

/** A record as its file has it. */
// biome-ignore lint/suspicious/noExplicitAny: tests change all parts of a record.
type RecordDocument = any;

/** Reads a record, without its checksum. */
export async function readRecord(file: string): Promise<RecordDocument> {
  const { checksum, ...document } = parseCheckedJson<RecordDocument>(await readFile(file)).document;
  return document;
}

/** Writes a record with properties that differ, as another build or version would. */
export async function changeRecord(file: string, change: (record: RecordDocument) => object): Promise<void> {
  await writeFile(file, toCheckedJson(change(await readRecord(file))));
}
