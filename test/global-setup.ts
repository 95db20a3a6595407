import type { TestProject } from 'vitest/node';
import { migrateTemplate } from './database.ts';
import { findPostgres, startPostgres } from './servers/postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the tests' PostgreSQL, or an empty string on the SQLite run. */
    postgresUrl: string;
  }
}

/** Starts the PostgreSQL shared by the tests of the `postgres` project. Each test creates separate databases in it. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const binaries = findPostgres();
  if (binaries === undefined) throw new Error('PostgreSQL was there a moment ago and is not now');
  const server = await startPostgres(binaries);
  try {
    await migrateTemplate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}
