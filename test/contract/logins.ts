import type { TestOptions } from '../homeport.ts';

/** A Homeport without a host whose installs seem to have WordPress and empty logs. */
export const WITH_WORDPRESS = {
  hostCallers: {
    createLogin: async (_install, user) => ({
      token: 'a'.repeat(43),
      expiresAt: '2026-01-31T09:31:00.000Z',
      user: user ?? 'admin',
    }),
    createDatabaseLink: async () => ({
      token: `1769851860.${'a'.repeat(43)}`,
      expiresAt: '2026-01-31T09:31:00.000Z',
    }),
    readMail: async ({ name }) => ({
      hasRelay: true,
      limitPerHour: 200,
      sentLastHour: 0,
      queued: 0,
      sender: `${name}@${name}.localhost`,
    }),
    backupBrowser: {
      browseBackup: async () => ({
        count: 1,
        entries: [{ name: 'htdocs', type: 'folder', bytes: null, modifiedAt: 1_769_850_000, target: null }],
      }),
      listBackupTables: async () => ({ count: 1, tables: [{ name: 'wp_posts', bytes: 904, rows: 4 }] }),
      readBackupFile: async () => ({ size: 5, bytes: Buffer.from('<?php') }),
    },
    readLog: async () => ({ lines: [], cursor: null, end: '2026-01-31.1.0' }),
  },
  hostKind: 'linux',
  environment: {
    HOMEPORT_EDGE_HTTP: '127.0.0.1:8080',
    HOMEPORT_EDGE_HTTPS: '127.0.0.1:8443',
    HOMEPORT_SSH_LISTEN: '127.0.0.1:2222',
  },
} satisfies Pick<TestOptions, 'hostCallers' | 'hostKind' | 'environment'>;
