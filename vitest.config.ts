import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { hasChromium } from './test/chromium.ts';
import { skippedTests } from './test/missing-programs.ts';
import { findPostgres } from './test/servers/postgres-server.ts';

// Processes that tests start load the server in half the time. Their environments pass it on.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.compile-cache');

const postgres = findPostgres() !== undefined;
for (const line of skippedTests()) process.stderr.write(`${line}\n`);

const everywhere = ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts', 'packages/**/*.test.ts'];
/** Tests that run once, on SQLite: they open no database, or are slow and about something else. */
const withoutDatabase = [
  'web/**',
  'packages/**',
  'src/hosting/**',
  'src/network/**',
  'test/bench/**',
  'test/operations/**',
  'test/servers/**',
  'src/secrets/**',
  'src/config/config.test.ts',
  'src/cli/{,commands/,platform/,terminal/}*.test.ts',
  'src/cli/doctor/{certificate,certificate-authority,hosts,ports,public-certificate,resolvers,surroundings}.test.ts',
  'src/api/{api-certificate,client-address,display-name,errors,json-body,paging,portal-pages,public-certificate,request-target,secure-listener,server,slow-start,validation}.test.ts',
  'src/**/public-key.test.ts',
  'src/lib/**',
  'src/app/shutdown.test.ts',
  'test/faults/silent-clients.test.ts',
  'src/database/sqlite-changes.test.ts',
  'src/access/**',
  'src/features/domains/certificates/{schedule,uploads/read-upload}.test.ts',
  'src/jobs/{backoff,failure}.test.ts',
  'src/features/queries-in-stores.test.ts',
  // test/contract/endpoint-table.test.ts calls each endpoint on both.
  'test/contract/examples.test.ts',
  // Their queries are those of their neighbours; they test DNS, HTTP, time limits and the logs of hosts.
  'src/features/domains/status-reports/{seen-from-outside,time-limit}.test.ts',
  'src/features/websites/{caches/cdn,logs/logs}.test.ts',
  'src/features/**/{connection,dns-sentence,edge-addresses,guesses,nightly-time,present,reach,recovery-codes,result-sentence,state,telephone,totp,weakness}.test.ts',
  // These test processes and logs. The services' tests cover their queries on both databases.
  'test/cli/{api,built-program,commands,copies,hosts,launcher,loading,lost-output,mcp,other-sealing-key,restore,serve,unprivileged-start,unusable-database,user-changes}.test.ts',
  'test/faults/{odd-certificates,odd-servers,secrets-in-logs,sqlite-clients,stop-while-creating}.test.ts',
  'src/**/domain-name.test.ts',
];

/**
 * Tests of rules, on PostgreSQL in the long tests only. It finds queries that PostgreSQL refuses in test/contract/endpoint-table.test.ts,
 * which calls each endpoint on both.
 */
const withoutPostgresUnlessLong = [
  'src/features/websites/capabilities/capabilities.test.ts',
  'test/cli/set-aside.test.ts',
  'test/contract/{conditional,fuzz,permissions}.test.ts',
  'test/faults/idempotency.test.ts',
  'src/api/{description,docs-page/samples}.test.ts',
  'src/features/accounts/account-users/account-users.test.ts',
  'src/features/accounts/security-notices/*.test.ts',
  'src/features/backups/staging/staging.test.ts',
  'src/features/accounts/{accounts,activity}/*.test.ts',
  'src/features/backups/{copy,daily-backups,restore-api,archives/archives,imports/imports}.test.ts',
  'src/features/domains/certificates/{expiry-warnings,issuance,user-orders,uploads/uploads}.test.ts',
  'src/features/domains/domains/{names-of-others,portal-host,primary-and-redirects,proved-names,required-ownership,shared-names,states,verification}.test.ts',
  'src/features/domains/status-reports/{domain-reports,reachability-monitor}.test.ts',
  'src/features/hosts/{away,fleet,two-edges}.test.ts',
  'src/features/identity/{credentials,email-changes,invitations,limits,passkeys,passwords,second-factor,ssh-keys}/*.test.ts',
  'src/features/identity/{profile/user,sessions/known-devices,sign-in/cross-site,sign-in/guessing}.test.ts',
  'src/features/websites/{caches,offload}/*.test.ts',
  'src/features/websites/{database-links/database-links,login-links/login-links,php/php}.test.ts',
  'src/features/websites/installs/{connection-service,deferral,installs}.test.ts',
  'src/features/websites/{lists,mail/mail,overview/overview,sites/sites,tags/tags,wordpress/wordpress}.test.ts',
  'src/features/websites/rules/{protection/protection,redirects/redirects}.test.ts',
  'src/features/transfers/{names,transfers}.test.ts',
  'src/features/updates/{schedule,updates,changes/changes}.test.ts',
  'src/features/usage/limit-warnings.test.ts',
  'src/cli/doctor/{embedded-wordpress,examine}.test.ts',
  'test/cli/{doctor,install-rules}.test.ts',
];

/** Files whose every test needs a PostgreSQL server. */
const onlyPostgres = [
  'src/features/domains/certificates/deleted-meanwhile.test.ts',
  'src/jobs/lock-order.test.ts',
  'test/faults/shutdown.test.ts',
];

/** Tests of operations and faults wait longest, so they begin first. Their files are short and would be last. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(operations|faults)\//.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** In the mode "long", tests that repeat themselves do so more often, and all that use a database run on both. */
export default defineConfig(({ mode }) => {
  const isLong = mode === 'long';
  if (isLong) {
    // Read by test/rounds.ts and test/contract/fuzz.test.ts in the processes of the tests.
    process.env.HOMEPORT_TEST_LONG = '1';
    process.env.FUZZ_RUNS ??= '10';
  }
  return {
    test: {
      testTimeout: isLong ? 1_800_000 : 120_000,
      sequence: { sequencer: LongestFirst },
      hookTimeout: 120_000,
      // A busy machine may need seconds for what usually takes a moment.
      expect: { poll: { timeout: 20_000, interval: 20 } },
      // More than the number of processors, because tests often wait for disk, network and child processes. The limit is that of
      // connections to the tests' PostgreSQL.
      maxWorkers: Math.min(2 * availableParallelism(), 16),
      // Sharing loaded modules halves the time. Each file starts its own servers and databases, and changes nothing global.
      isolate: false,
      projects: [
        {
          extends: true,
          test: { name: 'sqlite', include: everywhere, exclude: onlyPostgres, provide: { postgresUrl: '' } },
        },
        ...(postgres
          ? [
              {
                extends: true as const,
                test: {
                  name: 'postgres',
                  include: everywhere,
                  exclude: [...withoutDatabase, ...(isLong ? [] : withoutPostgresUnlessLong)],
                  globalSetup: ['test/global-setup.ts'],
                },
              },
            ]
          : []),
        ...(hasChromium
          ? [
              {
                extends: true as const,
                test: {
                  name: 'browser',
                  include: ['test/browser/**/*.browser-test.ts'],
                  provide: { postgresUrl: '' },
                  globalSetup: ['test/browser/built-portal.ts'],
                },
              },
            ]
          : []),
      ],
    },
  };
});
