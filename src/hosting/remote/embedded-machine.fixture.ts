import { randomUUID, X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackupPlacesReport } from '../contract/backup-places.ts';
import type { EdgeIdentity, EdgeRoute, OtherEdge } from '../contract/edge-routes.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { HostDescription, HostMachine } from '../contract/host.ts';
import { methodsFor, routedTo } from '../contract/host-methods.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { pageOf } from '../contract/inventory.ts';
import { listeningLog, startHost, type TestHost } from '../embedded/embedded-host.fixture.ts';
import { layoutOf } from '../embedded/host-folder/layout.ts';
import type { EmbeddedHostOptions } from '../embedded/host-options.ts';
import { publicHostKey } from '../embedded/sftp/ssh-host-key.ts';
import { certificateFingerprint } from './edge-identity.ts';
import type { HostIdentity } from './identity.ts';
import { type Peer, peerOf } from './peer.ts';
import { createHostServer, type HostServer } from './server.ts';

/** A real host with the additional commands of a remote host, for tests. */
export interface TestMachine extends TestHost {
  machine: HostMachine;
  description: HostDescription;
  /** The edges that it was told of, and the routes to them. */
  edges: {
    identities: EdgeIdentity[];
    others: readonly OtherEdge[];
    routes: Map<string, EdgeRoute>;
    /** Private key, with the public half as its second line. */
    sshHostKey: string;
  };
  /** Where it has its backups. */
  places: BackupPlacesReport;
  /** Arguments of the calls of `inspect`. */
  inspected: { expected: InstallRef[]; repair: boolean }[];
  /** Versions of each install on this host. */
  versions: Map<string, { phpVersion: string | null; wordpressVersion: string | null }>;
}

type Changes = Omit<Partial<EmbeddedHostOptions>, 'clock'>;

export async function startMachine(
  description: Partial<HostDescription> = {},
  changes: Changes = {},
): Promise<TestMachine> {
  const started = await startHost(changes);
  const { host } = started;
  const hostKey = await publicHostKey(layoutOf(started.folder).sshHostKey);
  const inspected: TestMachine['inspected'] = [];
  const versions: TestMachine['versions'] = new Map();
  const whole: HostDescription = {
    id: randomUUID(),
    capacity: 10,
    phpVersions: ['8.4', '8.2'],
    wordpressVersions: ['6.8.7', '6.1.9'],
    reservedNames: [],
    ports: {
      http: host.addresses?.edgeHttp.port ?? 0,
      https: host.addresses?.edgeHttps.port ?? 0,
      ssh: host.addresses?.ssh.port ?? 0,
    },
    ...(hostKey === null ? {} : { sshHostKeys: [hostKey] }),
    ...description,
  };
  const held = (wanted: string | null, present: string | null | undefined, all: string[]) => {
    const version = wanted ?? present ?? all[0] ?? null;
    if (version === null || all.includes(version)) return version;
    throw new PermanentHostError(`this host has no ${version}`);
  };
  const places: BackupPlacesReport = {
    ...{ current: '/backups', configured: '/backups', since: null },
    ...{ refused: null, waiting: [], former: [] },
  };
  const edges: TestMachine['edges'] = { identities: [], others: [], routes: new Map(), sshHostKey: '' };
  return {
    ...started,
    description: whole,
    edges,
    places,
    inspected,
    versions,
    machine: {
      ...methodsFor(routedTo('host'), (name) => async () => {
        throw new Error(`this test machine does not answer ${name}`);
      }),
      ...host,
      async apply(state, signal) {
        const present = versions.get(state.id);
        const own = {
          phpVersion: held(state.phpVersion, present?.phpVersion, whole.phpVersions),
          wordpressVersion: held(state.wordpressVersion, present?.wordpressVersion, whole.wordpressVersions),
        };
        const applied = await host.apply(state, signal);
        versions.set(state.id, own);
        return { ...applied, ...own };
      },
      addWpCli: async () => '2.12.0',
      async remove(install, options) {
        await host.remove(install, options);
        versions.delete(install.id);
      },
      describe: async () => whole,
      async joinEdges(identity, others) {
        edges.others = others;
        if (identity === null || whole.forwarding === undefined) return;
        edges.identities.push(identity);
        whole.forwarding.identity = {
          authority: certificateFingerprint(identity.authority),
          notAfter: new Date(new X509Certificate(identity.certificate).validTo).toISOString(),
        };
      },
      async setRoutes(routes) {
        for (const route of routes) {
          if (route.hostId === null) edges.routes.delete(route.installId);
          else edges.routes.set(route.installId, route);
        }
      },
      heldRoutes: async (after) =>
        pageOf(edges.routes.keys(), after).map((installId) => ({
          installId,
          digest: edges.routes.get(installId)?.digest ?? '',
        })),
      readSshHostKey: async () => edges.sshHostKey,
      async shareSshHostKey(key) {
        edges.sshHostKey = key;
        whole.sshHostKeys = [...(whole.sshHostKeys ?? []), `ssh-ed25519 ${key.split('\n')[1]}`];
      },
      mailQueue: async () => ({
        ...{ relay: 'relay.test:25', fault: null, messages: 0 },
        ...{ bytes: 0, oldest: null, listed: [] },
      }),
      retryMail: async () => 0,
      deleteMail: async () => 0,
      async inspect(expected, repair) {
        inspected.push({ expected, repair });
        return expected.map(({ name }) => ({
          thing: `install ${name}`,
          message: 'It has no folder.',
          mended: repair ? true : null,
          remedy: null,
        }));
      },
      backupPlaces: async () => places,
      acceptBackupPlace: async () => places,
      forgetFormerBackups: async () => 0,
      moveBackups: async ({ installs, to }) => ({
        ...{ place: to?.address ?? places.current, installs: installs.length },
        ...{ backups: 0, copied: 0 },
      }),
      addReleases: async () => ({ added: [], failures: [] }),
      async addWordpress(source) {
        const version = source === 'debian' ? '7.1' : '6.9.1';
        whole.wordpressVersions = [version, ...whole.wordpressVersions];
        return version;
      },
    },
  };
}

/** A machine that accepts commands like a remote host. */
export interface ServedMachine extends TestMachine {
  /** Folder of its sockets, like `HOMEPORT_HOST_RUN_FOLDER`. */
  runFolder: string;
  server: HostServer;
  /** Also accepts commands over mutual TLS. Returns the address. */
  listenTls(identity: HostIdentity, port?: number): Promise<string>;
  /** Stops accepting commands, as if the host were down. The websites stay available. */
  down(): Promise<void>;
  /** Accepts commands again. */
  up(): Promise<void>;
}

/** All connections are of this process, so the kernel is asked once: it takes a program, and tests make hundreds of connections. */
let thisProcess: Promise<Peer> | undefined;

function serverOf({ machine, log }: TestMachine): HostServer {
  const identify: typeof peerOf = (socket) => {
    thisProcess ??= peerOf(socket);
    return thisProcess;
  };
  return createHostServer({ host: machine, log: listeningLog(log), identify });
}

export async function serveMachine(
  description: Partial<HostDescription> = {},
  changes: Changes = {},
): Promise<ServedMachine> {
  const runFolder = await mkdtemp(join(tmpdir(), 'homeport-run-'));
  const allowed = { gid: process.getgid?.() ?? 0, uids: [process.getuid?.() ?? 0] };
  const machine = await startMachine(description, {
    siteDomain: 'localhost',
    ...changes,
    questions: { sshLogin: (name, fingerprint) => server.questions.sshLogin(name, fingerprint) },
  });
  let server = serverOf(machine);
  let tls: { identity: HostIdentity; port: number } | undefined;
  const socket = join(runFolder, 'host.sock');
  await server.listenUnix(socket, allowed);
  return {
    ...machine,
    runFolder,
    get server() {
      return server;
    },
    async listenTls(identity, port = 0) {
      tls = { identity, port: await server.listenTls({ host: '127.0.0.1', port }, identity) };
      return `https://127.0.0.1:${tls.port}`;
    },
    down: () => server.close(500),
    async up() {
      server = serverOf(machine);
      await server.listenUnix(socket, allowed);
      if (tls !== undefined) await server.listenTls({ host: '127.0.0.1', port: tls.port }, tls.identity);
    },
    async close() {
      await server.close(500);
      await machine.close();
      await rm(runFolder, { recursive: true, force: true });
    },
  };
}
