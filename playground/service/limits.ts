/** What the website accepts. The service itself would keep anything. */
export const limits = {
  /** In characters. */
  name: 200,
  /** In characters. */
  keyName: 100,
  /** In characters. Encoded as JSON or in a form, it stays below two megabytes. */
  content: 200_000,
  /** In characters. No URL with longer params arrives. */
  sample: 8_000,
  /** In characters. */
  webhookUrl: 2_000,
  /** The body of any request, in bytes. */
  body: 2 * 1024 * 1024,
} as const;
