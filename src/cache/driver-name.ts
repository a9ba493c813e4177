import { createRequire } from 'node:module';

/** Whether unstorage comes with a driver of this name. Nothing is loaded to find out. */
export function isDriverName(name: string): boolean {
  if (!/^[a-z0-9-]+$/.test(name)) return false;
  try {
    createRequire(import.meta.url).resolve(`unstorage/drivers/${name}`);
    return true;
  } catch {
    return false;
  }
}
