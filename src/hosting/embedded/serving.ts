import type { ListenAddress } from '../../network/connections/inherited-sockets.ts';
import { createEdgeCounts, type EdgeCounts } from '../policy/usage/edge-counts.ts';
import { createUsageLedger, type UsageLedger } from '../policy/usage/ledger.ts';
import type { LoopbackConnections } from '../runtime/wasm/loopback-connections.ts';
import { createCaches, DEFAULT_CACHE_LIMITS } from './edge/caches.ts';
import type { ChallengeFiles } from './edge/challenge-files.ts';
import { createCompressedVariants } from './edge/compressed-variants.ts';
import { createCoreFiles } from './edge/core-files.ts';
import { createEdge } from './edge/edge.ts';
import { createEdgeCertificate } from './edge/edge-certificate.ts';
import { createFileFinder } from './edge/file-finder.ts';
import { createLiveVhosts, type LiveVhosts } from './edge/live-vhosts.ts';
import { createPhpPages, type PhpPagesOptions } from './edge/php-pages.ts';
import { addressOf, createResponseMeter } from './edge/response-meter.ts';
import { createServedCertificates } from './edge/served-certificates.ts';
import { createStaticFiles } from './edge/static-files.ts';
import type { Layout } from './host-folder/layout.ts';
import type { VhostStore } from './host-folder/vhost-store.ts';
import type { EmbeddedAddresses, EmbeddedHostOptions } from './host-options.ts';
import type { DiskQuotas } from './sftp/disk-quota.ts';
import { createSftpGateway } from './sftp/sftp-gateway.ts';
import type { WebsiteLogs } from './website-logs.ts';

/** Serves the websites: the edge, SFTP and what they count. */
export interface Serving {
  vhosts: LiveVhosts;
  /** Ids of the websites with WordPress. */
  withWordPress(): string[];
  usage: UsageLedger;
  counts: Pick<EdgeCounts, 'figures'>;
  start(): Promise<EmbeddedAddresses>;
  /** Finishes active requests, for as long as the options say, or for `graceMs` if that is longer. */
  stop(graceMs: number): Promise<void>;
}

interface ServingOptions extends EmbeddedHostOptions {
  layout: Layout;
  store: VhostStore;
  proofs: ChallengeFiles;
  quotas: DiskQuotas;
  /** Null: the host runs no PHP. */
  php: Pick<PhpPagesOptions, 'request' | 'settle'> | null;
  loopbacks: Pick<LoopbackConnections, 'siteOf'>;
  logs: Pick<WebsiteLogs, 'requests'>;
}

const GRACE_MS = 5_000;
/** Of the files of WordPress itself. */
const CORE_CACHE_LIMITS = { ...DEFAULT_CACHE_LIMITS, page: 1024 * 1024, cdn: 32 * 1024 * 1024 };
const PAGE_CACHE_BYTES = 64 * 1024 * 1024;
/** How long visitors of a WordPress may see a file that has changed. */
const CHANGING_TTL_MS = 5_000;

export function createServing(options: ServingOptions): Serving {
  const { layout, store, siteDomain, sealer, clock, log, proofs } = options;
  const vhosts = createLiveVhosts({ store, siteDomain, clock, log });
  const own = createEdgeCertificate({ file: layout.edgeCertificate, siteDomain, clock, log });
  const variants = createCompressedVariants({ log });
  const files = createFileFinder({
    filesOf: ({ id }) => layout.filesOf(id),
    caches: createCaches(clock, DEFAULT_CACHE_LIMITS),
    fileLimit: DEFAULT_CACHE_LIMITS.file,
    changingTtlMs: CHANGING_TTL_MS,
    clock,
  });
  const usage = createUsageLedger({ file: layout.usage, clock, log });
  const counts = createEdgeCounts();
  const isTrusted = options.isTrustedProxy ?? (() => false);
  const edge = createEdge({
    http: options.edgeHttp,
    https: options.edgeHttps,
    vhosts,
    files: createStaticFiles(files, variants),
    ...wordpressParts(),
    certificates: createServedCertificates({ vhosts, store, sealer, own, log }),
    proofs,
    own,
    objectStorage: options.objectStorage,
    connections: options.connections.edge,
    meter: createResponseMeter({ ledger: usage, counts, requests: options.logs.requests, clock }),
    visitorOf: (request) => addressOf(request, isTrusted),
    websiteAsking: ({ socket }) => options.loopbacks.siteOf(socket),
    log,
    clock,
  });
  const ssh = createSftpGateway({
    listen: options.sshListen,
    hostKeyFile: layout.sshHostKey,
    filesOf: layout.filesOf,
    quotas: options.quotas,
    questions: options.questions,
    connections: options.connections.ssh,
    log,
    clock,
  });

  function wordpressParts() {
    if (options.php === null) return {};
    const cores = createFileFinder({
      filesOf: ({ id: version }) => layout.coreOf(version),
      caches: createCaches(clock, CORE_CACHE_LIMITS),
      fileLimit: CORE_CACHE_LIMITS.file,
      clock,
    });
    return {
      cores: createCoreFiles(createStaticFiles(cores, variants)),
      php: createPhpPages({ ...options.php, cacheBytes: PAGE_CACHE_BYTES, variants, log, clock }),
    };
  }

  return {
    vhosts,
    withWordPress: () => [...vhosts.all()].flatMap(({ id, wordpress }) => (wordpress === null ? [] : id)),
    usage,
    counts,
    async start() {
      await proofs.keepSwept();
      usage.start();
      await vhosts.start();
      const { http, https } = await edge.start();
      return { edgeHttp: http, edgeHttps: https, ssh: await ssh.start() };
    },
    async stop(graceMs) {
      proofs.stopSweeping();
      vhosts.stop();
      await Promise.all([edge.stop(Math.max(options.graceMs ?? GRACE_MS, graceMs)), ssh.stop()]);
      await usage.stop();
    },
  };
}

/** The loopback address of a port that the edge listens on. */
export const onLoopback = ({ port }: ListenAddress): ListenAddress => ({ host: '127.0.0.1', port });
