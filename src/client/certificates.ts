import { X509Certificate } from 'node:crypto';

/** Each certificate of a text. A certificate that is cut off reaches to the end of the text, or into the next one. */
const certificatePattern = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----.*?(?:-----END \1-----|$)/gs;

/** The ends of certificates. One without a beginning is left of a certificate that was cut. */
const endPattern = /-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** Takes the certificates (PEM) out of a text that may have comments between them. */
export const certificatesIn = (text: string): string[] => text.match(certificatePattern) ?? [];

/**
 * Says what is wrong with a text that should be certificates (PEM), as a predicate; `undefined` if nothing is.
 *
 * Node ignores a certificate that it cannot read, and then each request fails.
 */
export function certificateFlaw(text: string): string | undefined {
  if (text.trim() === '') return 'is empty';
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) return 'has a private key';
  const certificates = certificatesIn(text);
  const ends = text.match(endPattern)?.length ?? 0;
  if (certificates.length === 0 && ends === 0) {
    return 'has no certificate (PEM: text that begins with -----BEGIN CERTIFICATE-----)';
  }
  const isWhole = certificates.length === ends && certificates.every(isCertificate);
  return isWhole ? undefined : 'has a certificate that is malformed or cut off';
}

function isCertificate(pem: string): boolean {
  try {
    return Boolean(new X509Certificate(pem));
  } catch {
    return false;
  }
}
