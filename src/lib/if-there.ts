import { hasCode } from './error-code.ts';

/** Returns null if the file or folder being read is missing (ENOENT). Other failures are thrown. */
export async function ifThere<Read>(reading: Promise<Read>): Promise<Read | null> {
  try {
    return await reading;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
