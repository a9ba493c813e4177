/** Limits of the website, in characters. The service itself has none. */
export const limits = {
  name: 200,
  keyName: 100,
  person: 100,
  /** A content of this length stays below two megabytes as JSON or in a form. */
  content: 200_000,
  /** Longer params do not fit into a URL. */
  sample: 8_000,
  webhookUrl: 2_000,
  /** The body of any request, in bytes. */
  body: 2 * 1024 * 1024,
} as const;

/** The error if a text is longer than its limit. @param subject the start of the sentence */
export function excessOf(subject: string, text: string, limit: number): string | undefined {
  const count = (length: number) => length.toLocaleString('en');
  return text.length > limit
    ? `${subject} ${count(text.length)} characters, and may have ${count(limit)}. Shorten it by ${count(text.length - limit)}.`
    : undefined;
}
