import type { Json } from './json.ts';

/** Rules that a customer chose for the visitors of an install; an install with the usual rules has no row. */
export interface WebsiteRulesRow {
  install_id: string;
  /** The settings of the protection, without the password. */
  protection: Json;
  /** The password of visitors, as its owners hand it out; null without one. */
  sealed_password: string | null;
  /** Its hash for the edge. */
  password_hash: string | null;
  /** An array of redirects, in their order. */
  redirects: Json;
  /** JSON's null for the usual rules. */
  cache_rules: Json;
  updated_at: string;
}
