import type { ErrorCode } from './error-table.ts';

/** A warning about one embed, or about text that looks like an embed. It does not fail the build. */
export interface EmbedNote {
  message: string;
  /** The id as the author wrote it. */
  id?: string | undefined;
  /** The name of the output file that has the embed. */
  file?: string | undefined;
  line?: number;
  code?: ErrorCode | undefined;
  /** Whether the text only looks like an embed. */
  isDoubtful?: boolean;
}

/** An embed that fails the build. */
export interface InvalidEmbed extends EmbedNote {
  file: string;
  code: ErrorCode;
}

/** A function that says where the source has an embed, or any embed of a snippet; `''` if that is unknown. */
export type PlaceOf = (sought: Omit<EmbedNote, 'message'>) => string;

/** The message of a note, and where in the source its embed is written. */
export function describeNote(note: EmbedNote, placeOf?: PlaceOf): string {
  const place = placeOf?.(note);
  return place ? `${note.message} It is ${place}.` : note.message;
}
