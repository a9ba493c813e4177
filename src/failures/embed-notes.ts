import type { ErrorCode } from './error-table.ts';

/** A remark about one embed, or about text that looks like an embed. The build goes on. */
export interface EmbedNote {
  message: string;
  /** The id as the author wrote it. */
  id?: string | undefined;
  /** The file of the output that has the embed. */
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

/** Says where in the source an embed, or a snippet on any page, is written; `''` if that is unknown. */
export type PlaceOf = (sought: Omit<EmbedNote, 'message'>) => string;

/** The message of a note, and where in the source its embed is written. */
export function describeNote(note: EmbedNote, placeOf?: PlaceOf): string {
  const place = placeOf?.(note);
  return place ? `${note.message} It is ${place}.` : note.message;
}
