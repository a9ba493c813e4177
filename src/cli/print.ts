import { cleanText } from '../client/clean-text.ts';

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function nameOf({ id, params }: { id: number; params?: string | undefined }): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}
