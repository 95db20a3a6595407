/** Capabilities of a host for an install, beyond serving, copying and backing up its website. Not every host does all of it. */
export const CAPABILITIES = [
  'wordpress_login',
  'wordpress_details',
  'wordpress_updates',
  'wordpress_changes',
  'wp_cli',
  'database_access',
  'php_versions',
  'php_limits',
  'mail',
  'mail_limits',
  'imports',
  'imports_by_ssh',
  'logs',
  'backup_parts',
  'backup_tables',
  'object_cache',
  'shell',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Whether a host does something for an install. */
export type CapabilityState =
  | { available: true }
  | {
      available: false;
      /** Why not, in one sentence for the website's owner. */
      reason: string;
      /** How to get it, in one sentence. */
      remedy: string;
    };
