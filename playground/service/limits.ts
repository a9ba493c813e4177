/** Limits of the website, in characters. The service itself has none. */
export const limits = {
  name: 200,
  keyName: 100,
  /** A content of this length stays below two megabytes as JSON or in a form. */
  content: 200_000,
  /** Longer params do not fit into a URL. */
  sample: 8_000,
  webhookUrl: 2_000,
  /** The body of any request, in bytes. */
  body: 2 * 1024 * 1024,
} as const;
