/** What the website accepts, in characters. The service itself would keep anything. */
export const limits = {
  name: 200,
  keyName: 100,
  /** Encoded as JSON or in a form, it stays below two megabytes. */
  content: 200_000,
  /** No URL with longer params arrives. */
  sample: 8_000,
  webhookUrl: 2_000,
  /** The body of any request, in bytes. */
  body: 2 * 1024 * 1024,
} as const;
