import { chmod, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { ServedCertificate } from '../../contract/host.ts';
import { certificateId } from '../../policy/certificate-id.ts';
import { noticeFiles } from './notices.ts';
import type { RenderedVhost } from './render-vhost.ts';

/** Paths of nginx's configuration. Only root can read it, except notices and temporary files. */
export interface ConfigurationPaths {
  folder: string;
  /** A link to the folder of the active generation, from which nginx reads. */
  current: string;
  currentFile: string;
  ownCertificate: string;
  notices: string;
  temporary: string;
  certificateFiles(id: string): { chain: string; key: string };
  vhostFile(vhost: Pick<RenderedVhost, 'id' | 'revision'>): string;
}

function configurationPaths(folder: string): ConfigurationPaths {
  const below = (...names: string[]) => join(folder, ...names);
  return {
    folder,
    current: below('current'),
    currentFile: below('current', 'nginx.conf'),
    ownCertificate: below('own.pem'),
    notices: below('notices'),
    temporary: below('temporary'),
    certificateFiles: (id) => ({
      chain: below('certificates', `${id}.pem`),
      key: below('certificates', `${id}.key`),
    }),
    vhostFile: ({ id, revision }) => below('vhosts', `${id}-${revision}.conf`),
  };
}

/**
 * nginx's configuration on disk. A generation is one file that includes those of the websites. Website files and certificates
 * are named after their content and never change, so a new generation costs only what is new in it.
 */
export interface ConfigurationFiles {
  paths: ConfigurationPaths;
  /** Creates the folders and writes the notices. */
  prepare(): Promise<void>;
  /** False if it already existed. */
  writeCertificate(certificate: ServedCertificate): Promise<boolean>;
  /** Writes the file of a website, also if it was edited. False if it was already right. */
  writeVhost(vhost: RenderedVhost): Promise<boolean>;
  /** Whether the file of a website is unchanged. */
  isIntact(vhost: RenderedVhost): Promise<boolean>;
  /** Writes the main file of an inactive generation. Returns its path. */
  writeGeneration(text: string): Promise<string>;
  /** Activates a generation written by {@link writeGeneration}. */
  switchTo(file: string): Promise<void>;
  discard(file: string): Promise<void>;
  /** The active main file; null if there is none. */
  currentText(): Promise<string | null>;
  /** The active websites by id, except those whose files are missing. */
  currentVhosts(): Promise<Map<string, RenderedVhost>>;
  /** Deletes everything that neither the active nor the previous generation needs. `vhosts` are those of the active one. */
  prune(vhosts: RenderedVhost[]): Promise<void>;
}

const VHOST_FILE = /\/vhosts\/([0-9a-f-]{36})-([0-9a-f]{64})\.conf"/g;
const CERTIFICATE_FILE = /\/certificates\/([0-9a-f]{32})\.pem"/g;

export function createConfigurationFiles(folder: string): ConfigurationFiles {
  const paths = configurationPaths(folder);
  const generations = join(folder, 'generations');
  /** File names that the previous generation needs. */
  let needed = new Set<string>();

  async function currentText(): Promise<string | null> {
    return ifThere(readFile(paths.currentFile, 'utf8'));
  }

  async function lastNumber(): Promise<number> {
    const numbers = (await readdir(generations)).map(Number).filter(Number.isInteger);
    return Math.max(0, ...numbers);
  }

  async function removeOthers(place: string, keep: (name: string) => boolean): Promise<void> {
    for (const name of await readdir(join(folder, place))) {
      if (!keep(name)) await rm(join(folder, place, name), { recursive: true, force: true });
    }
  }

  return {
    paths,
    currentText,

    async prepare() {
      const own = ['generations', 'vhosts', 'certificates'].map((name) => join(folder, name));
      for (const path of own) await makeFolder(path, 0o700);
      await makeFolder(paths.temporary, 0o711);
      await makeFolder(paths.notices, 0o755);
      await chmod(folder, 0o711);
      for (const [name, content] of noticeFiles()) {
        const file = join(paths.notices, name);
        await writeUnlessSame(file, content);
        await chmod(file, 0o644);
      }
    },

    async writeCertificate(certificate) {
      const files = paths.certificateFiles(certificateId(certificate));
      const key = await writeUnlessSame(files.key, certificate.key);
      return (await writeUnlessSame(files.chain, certificate.chain)) || key;
    },

    writeVhost: (vhost) => writeUnlessSame(paths.vhostFile(vhost), vhost.text),

    isIntact: async (vhost) => (await ifThere(readFile(paths.vhostFile(vhost), 'utf8'))) === vhost.text,

    async writeGeneration(text) {
      const path = join(generations, String((await lastNumber()) + 1));
      await makeFolder(path, 0o700);
      const file = join(path, 'nginx.conf');
      await writeDurably(file, text);
      return file;
    },

    async switchTo(file) {
      const link = `${paths.current}.new`;
      await rm(link, { force: true });
      await symlink(join('generations', basename(join(file, '..'))), link);
      await rename(link, paths.current);
      await syncFolder(folder);
    },

    async discard(file) {
      await rm(join(file, '..'), { recursive: true, force: true });
    },

    async currentVhosts() {
      const vhosts = new Map<string, RenderedVhost>();
      for (const [, id = '', revision = ''] of ((await currentText()) ?? '').matchAll(VHOST_FILE)) {
        const text = await ifThere(readFile(paths.vhostFile({ id, revision }), 'utf8'));
        if (text !== null && parseUuid(id) === id) vhosts.set(id, { id, revision, text });
      }
      return vhosts;
    },

    async prune(vhosts) {
      const present = new Set<string>();
      for (const vhost of vhosts) {
        present.add(basename(paths.vhostFile(vhost)));
        for (const [, id = ''] of vhost.text.matchAll(CERTIFICATE_FILE)) {
          const { chain, key } = paths.certificateFiles(id);
          present.add(basename(chain)).add(basename(key));
        }
      }
      const generation = basename(await readlink(paths.current));
      const keep = new Set([...present, ...needed, generation]);
      for (const place of ['vhosts', 'certificates', 'generations']) {
        await removeOthers(place, (name) => keep.has(name));
      }
      needed = present.add(generation);
    },
  };
}

async function makeFolder(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
}

/** False if the file already had this content. */
async function writeUnlessSame(file: string, content: string): Promise<boolean> {
  if ((await ifThere(readFile(file, 'utf8'))) === content) return false;
  await writeDurably(file, content);
  return true;
}
