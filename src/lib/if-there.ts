import { hasCode } from './error-code.ts';

/** What is read of a path that may lead to nothing; null if it does. Other failures are thrown. */
export async function ifThere<Read>(reading: Promise<Read>): Promise<Read | null> {
  try {
    return await reading;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
