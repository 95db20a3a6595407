/**
 * The order of the layers (docs/architecture.md): a request goes route → service → store, and no import points back up.
 * Any other import fails `npm run layers`.
 */
const tests = '(\\.|-)(test|fixture)\\.ts$';

/** A file of a feature: `features/<group>/<resource>/<file>` or `features/<group>/<file>`. */
const feature = '^src/features/.+/';

/** The groups of features, lowest first. A group imports only the groups before it. */
const groups = [
  'hosts',
  'identity',
  'accounts',
  'websites',
  'domains',
  'backups',
  'updates',
  'provisioning',
  'transfers',
  'usage',
  'uptime',
];

const never = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { ...from, pathNot: [tests, ...[from.pathNot ?? []].flat()] },
  to,
});

export default {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'no-orphans-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    never(
      'shipped-code-needs-no-tests',
      'shipped code imports no tests, benchmarks or development packages',
      { path: '^src' },
      { path: '^(test|bench)/|\\.test\\.ts$' },
    ),
    never(
      'no-development-packages',
      'shipped code runs without development packages, after `npm ci --omit=dev` too',
      { path: '^(src|web|packages|bin)/' },
      // React counts as one because of its types. web/vite.config.ts replaces it by Preact.
      { dependencyTypes: ['npm-dev'], pathNot: '^node_modules/react(-dom)?/' },
    ),
    never(
      'no-sqlite-for-files-of-tenants',
      'the platform opens its own databases only: the bytes of tenants could end the process (docs/decisions/embedded-wordpress.md)',
      {
        path: '^src/',
        pathNot: [
          '^src/database/',
          '^src/hosting/policy/usage/ledger-file\\.ts$',
          '^src/hosting/linux/mail/queue-file\\.ts$',
          // Indexes of backups, with names of tenants as values.
          '^src/hosting/websites/backup-contents/contents-file\\.ts$',
          // The database of a new website, before its tenant has it.
          '^src/hosting/embedded/wordpress/(golden-copies|first-values)\\.ts$',
        ],
      },
      { path: 'node_modules/better-sqlite3/' },
    ),
    never(
      'the-library-knows-nothing-above-it',
      'names, numbers and texts of the field that every layer shares',
      { path: '^src/lib/' },
      { path: '^src/(?!lib/)' },
    ),
    never(
      'settings-know-no-part',
      'the settings serve every part, and their numbers are in the library',
      { path: '^src/config/' },
      { path: '^src/(?!config/|lib/)' },
    ),
    never(
      'api-knows-no-resource',
      'the HTTP layer knows no resource',
      { path: '^src/api/' },
      { path: '^src/(features|jobs|hosting/embedded|mail|cli)/' },
    ),
    never(
      'services-know-no-http',
      'rules know neither routes nor the framework, and share only schemas with them',
      { path: `${feature}(?!(routes|portal-routes|schema)\\.ts)[^/]+\\.ts$` },
      {
        path: `^src/api/(?!schema\\.ts)|${feature}(routes|portal-routes)\\.ts$|node_modules/fastify/`,
      },
    ),
    never(
      'stores-know-no-rules',
      'stores know SQL and no rules',
      { path: `${feature}(store|[^/]+-store)\\.ts$` },
      { path: `${feature}(service|rules|removal|job-kinds|routes)\\.ts$|^src/lib/failures\\.ts$` },
    ),
    never(
      'services-write-no-sql',
      'services and jobs ask the database through stores',
      { path: `${feature}(?!(store|[^/]+-store)\\.ts)[^/]+\\.ts$` },
      { path: 'node_modules/kysely/' },
    ),
    never(
      'routes-know-no-sql',
      'routes reach the database through services',
      {
        path: `${feature}(portal-)?routes\\.ts$`,
      },
      { path: `${feature}(store|[^/]+-store)\\.ts$|^src/database/` },
    ),
    ...groups
      .slice(0, -1)
      .map((group, at) =>
        never(
          `${group}-imports-no-higher-group`,
          `the groups of features are ${groups.join(' ← ')}`,
          { path: `^src/features/${group}/` },
          { path: `^src/features/(${groups.slice(at + 1).join('|')})/` },
        ),
      ),
    never(
      'backups-know-no-domain',
      'backups build on websites only',
      { path: '^src/features/backups/' },
      { path: '^src/features/domains/' },
    ),
    never(
      'the-assembly-is-the-top',
      'only the command line imports the composition root',
      { path: '^src/', pathNot: '^src/(app|cli)/' },
      { path: '^src/app/' },
    ),
    never(
      'a-host-knows-no-database',
      'a host knows websites and nothing of the control plane',
      { path: '^src/hosting/' },
      { path: '^src/(database|features|platform|api|jobs|access|mail|cli|app)/' },
    ),
    never(
      'dns-knows-no-feature',
      'look-ups are about names and nothing else of ours',
      { path: '^src/network/dns/' },
      {
        path: '^src/(?!network/dns/|lib/|config/settings/setting-values\\.ts$)',
      },
    ),
    never(
      'probes-know-no-feature',
      'connections to the outside build on look-ups alone',
      { path: '^src/network/probe/' },
      {
        path: '^src/(?!network/(probe|dns)/|lib/|config/settings/setting-values\\.ts$)',
      },
    ),
    never(
      'acme-knows-no-website',
      'ACME orders do not depend on the website',
      { path: '^src/network/acme/' },
      { path: '^src/(?!network/acme/|lib/)' },
    ),
    {
      name: 'fixtures-of-the-network-know-no-website',
      comment: 'tests of the network need no host either',
      severity: 'error',
      from: { path: '^src/network/.+\\.fixture\\.ts$' },
      to: { path: '^src/(?!network/|lib/)' },
    },
    never(
      'a-cdn-knows-no-website',
      'a CDN purge needs host names only',
      { path: '^src/network/cdn/' },
      { path: '^src/(?!network/cdn/|lib/)' },
    ),
    never(
      'only-the-assembly-knows-the-embedded-host',
      'everything else speaks to host.ts',
      {
        path: '^src/',
        pathNot: '^src/(hosting/(embedded|runtime/(wasm|machine))/|app/embedded-websites\\.ts$)',
      },
      { path: '^src/hosting/(embedded|runtime/(wasm|machine))/' },
    ),
    never(
      'only-the-assembly-knows-the-linux-host',
      'the Linux host runs in a separate process, reached through src/hosting/remote',
      {
        path: '^src/',
        pathNot: '^src/(hosting/(linux|runtime/linux)/|app/linux-host(-machine)?\\.ts$|cli/host/)',
      },
      { path: '^src/hosting/(linux|runtime/linux)/' },
    ),
    never(
      'jobs-know-no-work',
      'the queue knows no kind of job',
      { path: '^src/jobs/' },
      { path: '^src/(features|api|hosting|mail|access|cli)/' },
    ),
    never(
      'the-database-knows-no-feature',
      'the database layer serves all the others',
      { path: '^src/database/' },
      { path: '^src/(features|api|jobs|hosting|mail|cli)/' },
    ),
    never(
      'access-knows-no-http',
      'permissions are about people and things',
      { path: '^src/access/' },
      { path: '^src/(features|api|jobs|hosting|mail|cli)/' },
    ),
    never(
      'pages-know-the-api-alone',
      'code in the browser calls the server and imports none of it',
      { path: '^web/', pathNot: '^web/build\\.ts$' },
      { path: '^(src|test|bench|tools)/' },
    ),
    never(
      'the-calls-of-pages-know-no-component',
      'what a page asks the server, and its types, serve every component',
      { path: '^web/api/' },
      { path: '^web/(?!api/)' },
    ),
    never(
      'no-page-knows-another',
      'a part of several pages is a component',
      { path: '^web/(components|api|live|session)/' },
      { path: '^web/(pages|shell)/' },
    ),
    never('the-server-knows-no-page', 'it serves what was built', { path: '^src/' }, { path: '^web/' }),
    never(
      'the-command-line-is-the-top',
      'nothing is built on the command line',
      { path: '^src/', pathNot: '^src/(cli/|main\\.ts$)' },
      { path: '^src/(cli/|main\\.ts$)' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(web|packages/client)/dist/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
