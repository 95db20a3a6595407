import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSelfSigned } from '../../src/lib/certificates/self-signed-certificate.ts';
import { freePort } from './free-port.ts';

/** A certificate authority for tests, on 127.0.0.1: pebble, which keeps nothing after it ends. */
export interface AcmeServer {
  directoryUrl: string;
  /** PEM of the root for the directory's HTTPS. */
  ca: string;
  /** PEM of the root of its certificates. */
  root(): Promise<string>;
  /** Sets the address of every name; '' for none. Not allowed with the caller's DNS server. */
  setDefaultAddress(ipv4: string): Promise<void>;
  /** Its output so far. */
  log(): string;
  /** Restarts it at the same address; all accounts are lost. */
  restart(): Promise<void>;
  remove(): Promise<void>;
}

export interface AcmeServerOptions {
  /** Its resolver; null for an internal DNS server that resolves every name to 127.0.0.1. */
  dnsServer: { host: string; port: number } | null;
  /** Port for HTTP-01 challenges, instead of 80. */
  httpPort: number;
  /** Names that get no certificates, including all names below them. */
  blocklist?: string[];
  /** Percentage of valid nonces that it refuses. Default: 0. */
  nonceRejectPercent?: number;
  /** Percentage of orders that reuse earlier validations. Default: 0. */
  reusePercent?: number;
}

/** Whether this machine has pebble and its DNS server (Debian's package `pebble`). */
export function hasPebble(): boolean {
  const folders = (process.env.PATH ?? '').split(':');
  return ['pebble', 'pebble-challtestsrv'].every((program) =>
    folders.some((folder) => existsSync(join(folder, program))),
  );
}

export async function startAcmeServer(options: AcmeServerOptions): Promise<AcmeServer> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-acme-'));
  const logFile = join(folder, 'log');
  const own = await createSelfSigned({
    names: ['localhost', '127.0.0.1'],
    notBefore: new Date(Date.now() - 60_000),
    days: 7,
  });
  const [port, managementPort] = [await freePort(), await freePort()];
  const [dnsPort, dnsManagementPort] = [await freePort(), await freePort()];
  const directoryUrl = `https://localhost:${port}/dir`;
  const management = `https://localhost:${managementPort}`;
  const dns = options.dnsServer ?? { host: '127.0.0.1', port: dnsPort };
  const config = join(folder, 'config.json');
  writeFileSync(join(folder, 'certificate.pem'), own.chain);
  writeFileSync(join(folder, 'key.pem'), own.key, { mode: 0o600 });
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: join(folder, 'certificate.pem'),
    privateKey: join(folder, 'key.pem'),
    httpPort: options.httpPort,
    tlsPort: 9,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    domainBlocklist: options.blocklist ?? [],
  };
  writeFileSync(config, JSON.stringify({ pebble }));

  const begun: ChildProcess[] = [];
  let authority: ChildProcess | undefined;

  function start(program: string, args: string[], env: Record<string, string> = {}): ChildProcess {
    const log = openSync(logFile, 'a');
    try {
      const child = spawn(program, args, {
        cwd: folder,
        env: { ...process.env, ...env },
        stdio: ['ignore', log, log],
      });
      child.once('error', (error) => writeFileSync(logFile, `${program}: ${error.message}\n`, { flag: 'a' }));
      begun.push(child);
      return child;
    } finally {
      closeSync(log);
    }
  }

  async function startPebble(): Promise<void> {
    authority = start('pebble', ['-config', config, '-dnsserver', `${dns.host}:${dns.port}`], {
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(options.nonceRejectPercent ?? 0),
      PEBBLE_AUTHZREUSE: String(options.reusePercent ?? 0),
    });
    await until(authority, () => fetchText(directoryUrl, own.chain));
  }

  async function until(child: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
    for (const deadline = Date.now() + 20_000; ; await sleep(15)) {
      try {
        await ask();
        return;
      } catch (error) {
        if (hasEnded(child) || Date.now() > deadline) {
          throw new Error(`${child.spawnfile} did not start: ${readFileSync(logFile, 'utf8')}`, {
            cause: error,
          });
        }
      }
    }
  }

  async function setDefaultAddress(ip: string): Promise<void> {
    if (options.dnsServer !== null) throw new Error('the DNS server is not its own');
    const url = `http://127.0.0.1:${dnsManagementPort}/set-default-ipv4`;
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ ip }) });
    if (!response.ok) throw new Error(`the DNS server answers ${response.status}`);
  }

  async function remove(): Promise<void> {
    await Promise.all(begun.map(end));
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    if (options.dnsServer === null) {
      // biome-ignore format: one option a pair
      const challtestsrv = start('pebble-challtestsrv', ['-defaultIPv4', '127.0.0.1', '-defaultIPv6', '',
        '-http01', '', '-https01', '', '-tlsalpn01', '', '-dns01', `127.0.0.1:${dnsPort}`,
        '-management', `127.0.0.1:${dnsManagementPort}`]);
      await until(challtestsrv, () => setDefaultAddress('127.0.0.1'));
    }
    await startPebble();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    directoryUrl,
    ca: own.chain,
    root: () => fetchText(`${management}/roots/0`, own.chain),
    setDefaultAddress,
    log: () => readFileSync(logFile, 'utf8'),
    async restart() {
      if (authority) await end(authority);
      await startPebble();
    },
    remove,
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

function fetchText(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { ca, agent: false, timeout: 2000 }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      if (response.statusCode === 200) resolve(text);
      else reject(new Error(`${url} answers ${response.statusCode}`));
    });
    asked.once('timeout', () => asked.destroy(new Error(`${url} does not answer`)));
    asked.once('error', reject);
  });
}
