import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeDurably } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { OperatorError } from '../../../lib/operator-error.ts';

/**
 * The id of the host's folder, created if missing. It is stored in the folder, so it survives moving and restoring the folder.
 * Throws OperatorError.
 */
export async function provideFolderId(file: string, newId: () => string): Promise<string> {
  const present = await readFolderId(file);
  if (present !== null) return present;
  const made = newId();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeDurably(file, `${made}\n`);
  return made;
}

/** Creates a new id if the file holds none or cannot be read. The folder then counts as another one. */
export async function replaceUnusableFolderId(file: string, newId: () => string): Promise<void> {
  try {
    await readFolderId(file);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    await writeDurably(file, `${newId()}\n`);
  }
}

/** Null if the file is missing. Throws OperatorError if the file holds no id, because a new id would make it another folder. */
export async function readFolderId(file: string): Promise<string | null> {
  const text = await ifThere(readFile(file, 'utf8')).catch((error: unknown) => {
    throw unusable(`${file} cannot be read (${messageOf(error)}).`, error);
  });
  if (text === null) return null;
  const id = parseUuid(text.trim());
  if (id !== undefined) return id;
  throw unusable(`${file} holds no id.`);
}

const unusable = (what: string, cause?: unknown): OperatorError =>
  new OperatorError(
    `${what} Put back the one that was there, from a backup of the data folder; or, if there is none, have a new one made: "homeport host take-over".`,
    { cause },
  );
