import { chmod, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDurably, replaceAtomically, syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { ServedCertificate } from '../../contract/host.ts';
import { certificateId } from '../../policy/certificate-id.ts';
import { type EdgeRow, parseRow } from '../../policy/edge-row.ts';
import { ensureFolder } from '../isolation/owned-folder.ts';
import type { TablePaths } from './edge-options.ts';

/**
 * The edge's table on disk: a row for each install, a link to a row for each host name, and certificates with their keys. Each file is
 * replaced in one step, so that nginx reads it whole at any time.
 */
export interface EdgeTable {
  /** Creates the folders. */
  prepare(): Promise<void>;
  /** The readable rows. */
  rows(): Promise<Map<string, EdgeRow>>;
  /** False if the file was already right. */
  writeRow(row: EdgeRow): Promise<boolean>;
  removeRow(installId: string): Promise<void>;
  /** Whether the file of the row is unchanged. */
  isIntact(row: EdgeRow): Promise<boolean>;
  /** The install that each name leads to. */
  holders(): Promise<Map<string, string>>;
  /** Makes a name lead to the row of an install; null: to none. */
  setHolder(hostname: string, installId: string | null): Promise<void>;
  /** Writes the links to disk. */
  syncNames(): Promise<void>;
  certificateIds(): Promise<Set<string>>;
  /** Certificates that nginx reads at its start. False if it was already there. */
  writeCertificate(certificate: Pick<ServedCertificate, 'chain' | 'key'>): Promise<boolean>;
  readCertificate(id: string): Promise<Pick<ServedCertificate, 'chain' | 'key'> | null>;
  removeCertificate(id: string): Promise<void>;
}

/** `gid`: the group of nginx's workers. They read rows by name, and list nothing. */
export function createEdgeTable(paths: TablePaths, gid: number): EdgeTable {
  const rowFile = (id: string) => join(paths.installs, `${id}.json`);
  const target = (id: string) => join('..', 'installs', `${id}.json`);
  const certificateFile = (id: string, kind: 'pem' | 'key') => join(paths.certificates, `${id}.${kind}`);
  const index = join(paths.certificates, 'index');

  async function indexed(): Promise<Set<string>> {
    const text = (await ifThere(readFile(index, 'utf8'))) ?? '';
    return new Set(text.split('\n').filter((line) => CERTIFICATE_ID.test(line)));
  }

  async function readCertificate(id: string): Promise<Pick<ServedCertificate, 'chain' | 'key'> | null> {
    const chain = await ifThere(readFile(certificateFile(id, 'pem'), 'utf8'));
    const key = await ifThere(readFile(certificateFile(id, 'key'), 'utf8'));
    return chain === null || key === null ? null : { chain, key };
  }

  const writeIndex = (ids: Set<string>) => writeDurably(index, [...ids].map((id) => `${id}\n`).join(''));

  return {
    async prepare() {
      await mkdir(paths.lua, { recursive: true });
      await chmod(paths.lua, 0o755);
      for (const folder of [paths.folder, paths.installs, paths.names]) {
        await ensureFolder(folder, { uid: 0, gid, mode: 0o710 });
      }
      await ensureFolder(paths.certificates, { uid: 0, gid: 0, mode: 0o700 });
    },

    async rows() {
      const rows = new Map<string, EdgeRow>();
      for (const name of await readdir(paths.installs)) {
        const text = ROW_FILE.test(name) ? await ifThere(readFile(join(paths.installs, name), 'utf8')) : null;
        const row = text === null ? null : parsed(text);
        if (row !== null && name === `${row.id}.json`) rows.set(row.id, row);
      }
      return rows;
    },

    async writeRow(row) {
      const text = JSON.stringify(row);
      if ((await ifThere(readFile(rowFile(row.id), 'utf8'))) === text) return false;
      await replaceAtomically(rowFile(row.id), text, { mode: 0o640, gid });
      await syncFolder(paths.installs);
      return true;
    },

    removeRow: (id) => removeDurably(rowFile(id)),
    isIntact: async (row) => (await ifThere(readFile(rowFile(row.id), 'utf8'))) === JSON.stringify(row),

    async holders() {
      const holders = new Map<string, string>();
      for (const name of await readdir(paths.names)) {
        const to = await ifThere(readlink(join(paths.names, name)));
        const id = to === null ? undefined : LINK.exec(to)?.[1];
        // Any other file is removed with the name.
        if (!name.startsWith('.')) holders.set(name, id ?? '');
      }
      return holders;
    },

    async setHolder(hostname, id) {
      const link = join(paths.names, hostname);
      if (id === null) return rm(link, { force: true, recursive: true });
      const temporary = join(paths.names, `.${id}`);
      await rm(temporary, { force: true });
      await symlink(target(id), temporary);
      await rename(temporary, link);
    },

    syncNames: () => syncFolder(paths.names),
    certificateIds: indexed,

    async writeCertificate(certificate) {
      const id = certificateId(certificate);
      const [ids, before] = [await indexed(), await readCertificate(id)];
      if (ids.has(id) && before?.chain === certificate.chain && before.key === certificate.key) return false;
      await writeDurably(certificateFile(id, 'key'), certificate.key);
      await writeDurably(certificateFile(id, 'pem'), certificate.chain);
      await writeIndex(ids.add(id));
      return true;
    },

    readCertificate,

    async removeCertificate(id) {
      const ids = await indexed();
      if (ids.delete(id)) await writeIndex(ids);
      for (const kind of ['pem', 'key'] as const) await rm(certificateFile(id, kind), { force: true });
    },
  };
}

const ROW_FILE = /^[0-9a-f-]{36}\.json$/;
const LINK = /^\.\.\/installs\/([0-9a-f-]{36})\.json$/;
const CERTIFICATE_ID = /^[0-9a-f]{32}$/;

/** Null for a row that cannot be read: it is written again, or removed. */
function parsed(text: string): EdgeRow | null {
  try {
    return parseRow(text);
  } catch {
    return null;
  }
}
