import type { AstroIntegrationLogger } from 'astro';
import { cleanLines } from './client/clean-text.ts';

/** Astro's logger with every message cleaned: most contain text from the service or the names of files. */
export function cleanLogger(logger: AstroIntegrationLogger): AstroIntegrationLogger {
  const cleaned: Pick<AstroIntegrationLogger, 'info' | 'warn' | 'error'> = {
    info: (message) => logger.info(cleanLines(message)),
    warn: (message) => logger.warn(cleanLines(message)),
    error: (message) => logger.error(cleanLines(message)),
  };
  return Object.assign(Object.create(logger), cleaned);
}
