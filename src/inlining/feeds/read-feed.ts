/** Matches the version by which a JSON Feed says what it is, and not a text that quotes one. */
const jsonFeedVersion = /(?<!\\)"version"\s*:\s*"https?:\\?\/\\?\/jsonfeed\.org\\?\/version/;

/** Whether a file is a feed in JSON (https://jsonfeed.org). */
export const isJsonFeed = (file: Buffer): boolean =>
  file.includes('jsonfeed.org') && jsonFeedVersion.test(file.toString('latin1'));
