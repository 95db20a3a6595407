import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import type { Platform } from '../../platform.ts';
import type { operationSchema } from './schema.ts';

export interface Connection {
  host: string;
  port: number;
  username: string;
  shell: boolean;
  http_url: string;
  https_url: string;
}

export interface OperationsService {
  /** Throws NotFound. */
  list(
    caller: Caller,
    installId: string,
  ): Promise<{
    results: Static<typeof operationSchema>[];
    next: { purge_object: string | null; check_status: string | null };
  }>;
  /** Throws NotFound. */
  connection(caller: Caller, installId: string): Promise<Connection | null>;
  options(): Promise<{ php_versions: string[]; site_domain: string }>;
}

const unbuilt = async (): Promise<never> => {
  throw new Error('being built');
};

export function createOperationsService(_platform: Platform): OperationsService {
  return { list: unbuilt, connection: unbuilt, options: unbuilt };
}
