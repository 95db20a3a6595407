import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { messageOf } from '../../../lib/error-message.ts';
import type { PhpSite } from '../wasm/php-sites.ts';
import { startMachineProcess } from './machine-process.ts';
import type { MachinePhp, SandboxFolders } from './website-sandbox.ts';

const HOST = 'trial.invalid';
const PORT = 7;
/** Far more than a page needs on a busy machine: without this PHP, new hosts begin in WebAssembly and stay there. */
const SECONDS = 120;
const EXPECTED = 'fpm-fcgi core';
/** Uses what a machine may lack: the overlay of the document root, and the network. */
const PAGE = `<?php @fsockopen('${HOST}', ${PORT}, $number, $message, 5); require 'wp-load.php';`;
const CORE = "<?php echo PHP_SAPI, ' ', is_writable(__FILE__) ? 'writable' : 'core';";

/** Serves a page of a trial website. Returns why websites cannot use this PHP, as a clause; null if they can. */
export async function faultOf(
  php: MachinePhp,
  { folder, sockets }: SandboxFolders,
  filter: string,
): Promise<string | null> {
  const at = (name: string): string => join(folder, name);
  const limits = { memoryMb: 64, seconds: SECONDS, uploadMb: 1, inputVars: 1_000, threads: 1 };
  const site: PhpSite = {
    id: 'trial',
    core: at('core'),
    website: at('files'),
    private: at('private'),
    database: at('database'),
    readOnly: {},
    prepend: '',
    limits,
  };
  const connections: string[] = [];
  const ending = new AbortController();
  try {
    const folders = ['core/wp-includes', 'core/wp-admin', 'files/wp-content', 'private/tmp', 'database'];
    for (const path of folders) await mkdir(at(path), { recursive: true, mode: 0o700 });
    await writeFile(at('core/wp-load.php'), CORE);
    await writeFile(at('files/trial.php'), PAGE);
    const served = await startMachineProcess(site, {
      ...{ php, filter, folder: at('run'), sockets, waitMs: SECONDS * 1_000, signal: ending.signal },
      log: pino({ level: 'silent' }),
      date: () => new Date(),
      mayConnect: () => false,
      lookUp: async () => [],
      loopback({ host, port }) {
        connections.push(`${host}:${port}`);
        return undefined;
      },
      loopbacks: { add() {} },
      deliverMail: async () => {},
    });
    try {
      const { body } = await served.request({
        ...{ method: 'GET', target: '/trial.php', headers: {}, body: null, https: false },
        ...{ clientAddress: '127.0.0.1', host: HOST },
      });
      const page = await text(body);
      if (page !== EXPECTED) return `a trial page of PHP ${php.version} says "${page.slice(0, 100)}"`;
      if (!connections.includes(`${HOST}:${PORT}`)) return 'a trial page could not use its network';
      return null;
    } finally {
      await served.kill();
    }
  } catch (error) {
    return messageOf(error);
  } finally {
    ending.abort();
    await rm(folder, { recursive: true, force: true });
  }
}
