import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { removeDurably, writeDurably } from '../../lib/durable-file.ts';
import { ifThere } from '../../lib/if-there.ts';
import type { Layout } from './host-folder/layout.ts';

/** Beside the document root, where neither SFTP nor PHP reaches. */
const FILE = '.imported.json';

const Kept = Type.Object({
  /** The document root that was made. Whatever replaces it later makes the record void. */
  folder: Type.String(),
  record: Type.String(),
});

/** Keeps the record of an import or restore that makes `folder` the document root of a website; null: none. Before the exchange. */
export async function keepReplacementRecord(
  layout: Pick<Layout, 'installOf'>,
  installId: string,
  folder: string,
  record: string | null,
): Promise<void> {
  const file = join(layout.installOf(installId), FILE);
  if (record === null) return removeDurably(file);
  await writeDurably(file, JSON.stringify({ folder: await markOf(folder), record }));
}

/** The record of what made the present document root; null if that had none. */
export async function readReplacementRecord(
  layout: Pick<Layout, 'installOf' | 'filesOf'>,
  installId: string,
): Promise<string | null> {
  const text = await ifThere(readFile(join(layout.installOf(installId), FILE), 'utf8'));
  if (text === null) return null;
  const { folder, record } = Value.Parse(Kept, JSON.parse(text));
  return folder === (await ifThere(markOf(layout.filesOf(installId)))) ? record : null;
}

/** Stays with a folder when it is renamed. The number of a deleted folder is used again, its time is not. */
async function markOf(folder: string): Promise<string> {
  const { ino, birthtimeNs } = await lstat(folder, { bigint: true });
  return `${ino} ${birthtimeNs}`;
}
