/** Why the site has no copy of an image: the end of a sentence. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
  /** Whether the image's host is in trouble, so that trying again may help. */
  readonly isTrouble: boolean;

  constructor(reason: string, isTrouble = false) {
    super(reason);
    this.isTrouble = isTrouble;
  }
}
