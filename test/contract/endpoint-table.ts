/** A row of the specification's endpoint table. */
export interface EndpointRow {
  number: number;
  method: string;
  /** Below `/v1`, with the identifiers in braces. */
  path: string;
  success: number;
  /** The "Other statuses" of the row. */
  others: number[];
  isPublic: boolean;
  hasBody: boolean;
  isPaged: boolean;
}

/** The endpoint table, as the specification has it, and endpoints of its successor: number, method, path, success, other statuses. */
const TABLE = `
|  1 | GET    | /status                                                     | 200 | 429, 503                           |
|  2 | GET    | /swagger                                                    | 200 | 429, 503                           |
|  3 | GET    | /accounts                                                   | 200 | 400, 401, 429, 503                 |
|  4 | GET    | /accounts/{account_id}                                      | 200 | 401, 404, 429, 503                 |
|  5 | GET    | /accounts/{account_id}/account_users                        | 200 | 400, 401, 429, 503                 |
|  6 | POST   | /accounts/{account_id}/account_users                        | 201 | 400, 401, 403, 429, 503            |
|  7 | GET    | /accounts/{account_id}/account_users/{user_id}              | 200 | 401, 403, 404, 429, 503            |
|  8 | PATCH  | /accounts/{account_id}/account_users/{user_id}              | 200 | 400, 401, 403, 404, 429, 500, 503  |
|  9 | DELETE | /accounts/{account_id}/account_users/{user_id}              | 204 | 400, 401, 403, 404, 429, 503       |
| 10 | GET    | /sites                                                      | 200 | 400, 401, 429, 503                 |
| 11 | POST   | /sites                                                      | 201 | 400, 401, 403, 429, 503            |
| 12 | GET    | /sites/{site_id}                                            | 200 | 401, 403, 404, 429, 503            |
| 13 | PATCH  | /sites/{site_id}                                            | 200 | 400, 401, 403, 404, 429, 503       |
| 14 | DELETE | /sites/{site_id}                                            | 204 | 400, 401, 403, 404, 429, 503       |
| 15 | GET    | /installs                                                   | 200 | 400, 401, 429, 503                 |
| 16 | POST   | /installs                                                   | 201 | 400, 401, 403, 429, 503            |
| 17 | GET    | /installs/{install_id}                                      | 200 | 401, 404, 429, 503                 |
| 18 | PATCH  | /installs/{install_id}                                      | 200 | 400, 401, 403, 429, 503            |
| 19 | DELETE | /installs/{install_id}                                      | 204 | 401, 403, 404, 429, 503            |
| 20 | GET    | /installs/{install_id}/offload_settings/filestore_validation_file | 200 | 401, 403, 404, 429, 503      |
| 21 | GET    | /installs/{install_id}/offload_settings/files               | 200 | 401, 403, 404, 429, 503            |
| 22 | POST   | /installs/{install_id}/offload_settings/files               | 202 | 400, 401, 403, 404, 429, 503       |
| 23 | PATCH  | /installs/{install_id}/offload_settings/files               | 202 | 400, 401, 403, 404, 429, 503       |
| 24 | GET    | /installs/{install_id}/domains                              | 200 | 401, 403, 404, 429, 503            |
| 25 | POST   | /installs/{install_id}/domains                              | 201 | 400, 401, 403, 429, 503            |
| 26 | POST   | /installs/{install_id}/domains/bulk                         | 201 | 400, 401, 403, 429, 503            |
| 27 | GET    | /installs/{install_id}/domains/{domain_id}                  | 200 | 401, 403, 404, 429, 503            |
| 28 | PATCH  | /installs/{install_id}/domains/{domain_id}                  | 200 | 400, 401, 403, 404, 429, 503       |
| 29 | DELETE | /installs/{install_id}/domains/{domain_id}                  | 204 | 400, 401, 403, 404, 429, 503       |
| 30 | POST   | /installs/{install_id}/domains/{domain_id}/check_status     | 202 | 401, 403, 404, 429, 500, 503       |
| 31 | GET    | /installs/{install_id}/domains/check_status/{report_id}     | 200 | 401, 403, 404, 429, 500, 503       |
| 32 | GET    | /installs/{install_id}/domains/{domain_id}/ssl_certificate  | 200 | 401, 403, 404, 429, 503            |
| 33 | POST   | /installs/{install_id}/backups                              | 202 | 400, 401, 403, 404, 429, 503       |
| 34 | GET    | /installs/{install_id}/backups/{backup_id}                  | 200 | 400, 401, 404, 429, 503            |
| 35 | POST   | /installs/{install_id}/purge_cache                          | 202 | 400, 401, 403, 404, 429, 503       |
| 36 | GET    | /user                                                       | 200 | 401, 429, 503                      |
| 37 | GET    | /ssh_keys                                                   | 200 | 400, 401, 429, 503                 |
| 38 | POST   | /ssh_keys                                                   | 201 | 400, 401, 403, 429, 503            |
| 39 | DELETE | /ssh_keys/{ssh_key_id}                                      | 204 | 400, 401, 403, 429, 503            |
| 40 | POST   | /installs/{install_id}/domains/{domain_id}/verification     | 200 | 400, 401, 403, 404, 429, 500, 503  |
| 41 | GET    | /installs/{install_id}/backups                              | 200 | 400, 401, 403, 404, 429, 502, 503  |
| 42 | DELETE | /installs/{install_id}/backups/{backup_id}                  | 204 | 400, 401, 403, 404, 409, 429, 503  |
| 43 | POST   | /installs/{install_id}/backups/{backup_id}/restore          | 202 | 400, 401, 403, 404, 429, 500, 502, 503 |
| 44 | GET    | /installs/{install_id}/archives                             | 200 | 400, 401, 403, 404, 429, 500, 503  |
| 45 | POST   | /installs/{install_id}/archives                             | 202 | 400, 401, 403, 404, 429, 500, 503  |
| 46 | POST   | /install_copy                                               | 202 | 400, 401, 403, 404, 429, 500, 502, 503 |
| 47 | DELETE | /installs/{install_id}/offload_settings/files               | 202 | 401, 403, 404, 429, 503            |
| 50 | GET    | /operations                                                 | 200 | 400, 401, 429, 503                 |
| 51 | GET    | /operations/{operation_id}                                  | 200 | 401, 403, 404, 429, 503            |
| 52 | DELETE | /operations/{operation_id}                                  | 204 | 401, 403, 404, 409, 429, 503       |
| 53 | POST   | /operations/{operation_id}/retry                            | 202 | 400, 401, 403, 404, 409, 429, 500, 502, 503 |
| 61 | GET    | /accounts/{account_id}/limits                               | 200 | 400, 401, 403, 404, 429, 500, 502, 503 |
| 62 | GET    | /accounts/{account_id}/usage                                | 200 | 400, 401, 403, 404, 429            |
| 63 | GET    | /accounts/{account_id}/usage/summary                        | 200 | 400, 401, 403, 404, 429, 502, 503  |
| 64 | GET    | /accounts/{account_id}/usage/insights                       | 200 | 400, 401, 403, 404, 429, 502, 503  |
| 65 | GET    | /installs/{install_id}/usage                                | 200 | 400, 401, 403, 404, 429, 503       |
| 66 | POST   | /accounts/{account_id}/usage/refresh_disk_usage             | 200 | 400, 401, 403, 404, 429, 500, 502, 503 |
| 67 | POST   | /installs/{install_id}/usage/refresh_disk_usage             | 200 | 400, 401, 403, 404, 429, 500, 502, 503 |
| 71 | GET    | /installs/{install_id}/ssl_certificates                     | 200 | 401, 403, 404, 429, 503            |
| 72 | POST   | /installs/{install_id}/domains/{domain_id}/ssl_certificate  | 202 | 401, 403, 404, 429, 500, 503       |
| 73 | POST   | /installs/{install_id}/ssl_certificates/third_party         | 200 | 400, 401, 403, 404, 429, 500, 503  |
| 90 | GET    | /accounts/{account_id}/site_transfers                       | 200 | 400, 401, 403, 404, 429, 500, 503  |
| 91 | POST   | /accounts/{account_id}/site_transfers/{transfer_id}/accept  | 200 | 400, 401, 403, 404, 409, 429, 500, 503 |
| 92 | GET    | /sites/{site_id}/site_transfers                             | 200 | 400, 401, 403, 404, 429, 500, 503  |
| 93 | POST   | /sites/{site_id}/site_transfers                             | 202 | 400, 401, 403, 404, 409, 422, 429, 500, 503 |
| 94 | GET    | /sites/{site_id}/site_transfers/{transfer_id}               | 200 | 401, 403, 404, 429, 500, 503       |
| 95 | DELETE | /sites/{site_id}/site_transfers/{transfer_id}               | 204 | 401, 403, 404, 409, 429, 500, 503  |
| 96 | GET    | /credentials                                                | 200 | 400, 401, 429, 503                 |
| 97 | POST   | /credentials                                                | 201 | 400, 401, 403, 429, 503            |
| 98 | DELETE | /credentials/{credential_id}                                | 204 | 400, 401, 403, 404, 429, 503       |
| 99 | GET    | /accounts/{account_id}/activity                             | 200 | 400, 401, 403, 404, 429, 503       |
| 100| GET    | /events                                                     | 200 | 400, 401, 429, 503                 |
| 101| GET    | /webhooks                                                   | 200 | 400, 401, 429, 503                 |
| 102| POST   | /webhooks                                                   | 201 | 400, 401, 403, 429, 503            |
| 103| GET    | /webhooks/{webhook_id}                                      | 200 | 401, 403, 404, 429, 503            |
| 104| PATCH  | /webhooks/{webhook_id}                                      | 200 | 400, 401, 403, 404, 429, 503       |
| 105| DELETE | /webhooks/{webhook_id}                                      | 204 | 401, 403, 404, 429, 503            |
| 106| GET    | /webhooks/{webhook_id}/deliveries                           | 200 | 400, 401, 403, 404, 429, 503       |
| 107| GET    | /webhooks/{webhook_id}/deliveries/{delivery_id}             | 200 | 401, 403, 404, 429, 503            |
| 108| POST   | /webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver   | 200 | 401, 403, 404, 409, 429, 503       |
| 109| POST   | /webhooks/{webhook_id}/test                                 | 200 | 401, 403, 404, 409, 429, 503       |
| 110| POST   | /installs/{install_id}/wordpress/login_links                | 201 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 111| POST   | /installs/{install_id}/wp_cli                               | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 112| GET    | /installs/{install_id}/php                                  | 200 | 401, 403, 404, 409, 429, 503       |
| 113| PATCH  | /installs/{install_id}/php                                  | 200 | 400, 401, 403, 404, 409, 429, 503  |
| 114| GET    | /installs/{install_id}/capabilities                         | 200 | 401, 403, 404, 429, 503            |
| 115| POST   | /installs/{install_id}/php/restart                          | 202 | 401, 403, 404, 409, 429, 503       |
| 120| GET    | /installs/{install_id}/wordpress/updates                    | 200 | 400, 401, 403, 404, 429, 503       |
| 121| POST   | /installs/{install_id}/wordpress/updates                    | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 122| POST   | /accounts/{account_id}/wordpress/updates                    | 202 | 400, 401, 403, 404, 429, 503       |
| 123| GET    | /installs/{install_id}/wordpress/update_policy              | 200 | 401, 403, 404, 409, 429, 503       |
| 124| PATCH  | /installs/{install_id}/wordpress/update_policy              | 200 | 400, 401, 403, 404, 409, 429, 503  |
| 127| GET    | /installs/{install_id}/wordpress                            | 200 | 401, 404, 429, 503 |
| 128| POST   | /installs/{install_id}/wordpress/refresh                    | 202 | 401, 403, 404, 409, 429, 503 |
| 129| GET    | /accounts/{account_id}/wordpress                            | 200 | 400, 401, 403, 404, 429, 503 |
| 130| GET    | /installs/{install_id}/logs/access                          | 200 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 131| GET    | /installs/{install_id}/logs/php                             | 200 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 132| GET    | /installs/{install_id}/logs/cron                            | 200 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 133| GET    | /installs/{install_id}/logs/mail                            | 200 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 140| GET    | /installs/{install_id}/mail                                 | 200 | 401, 403, 404, 409, 429, 502, 503 |
| 141| PATCH  | /installs/{install_id}/mail                                 | 200 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 142| GET    | /accounts/{account_id}/deleted_installs                     | 200 | 401, 403, 404, 429, 503            |
| 143| POST   | /deleted_installs/{deleted_install_id}/restore              | 202 | 401, 403, 404, 409, 429, 503       |
| 150 | GET    | /installs/{install_id}/protection                          | 200 | 401, 403, 404, 429, 503            |
| 151 | PATCH  | /installs/{install_id}/protection                          | 200 | 400, 401, 403, 404, 429, 503       |
| 152 | GET    | /installs/{install_id}/redirects                           | 200 | 401, 403, 404, 429, 503            |
| 153 | POST   | /installs/{install_id}/redirects                           | 201 | 400, 401, 403, 404, 429, 503       |
| 154 | POST   | /installs/{install_id}/redirects/import                    | 200 | 400, 401, 403, 404, 429, 503       |
| 155 | GET    | /installs/{install_id}/redirects/{redirect_id}             | 200 | 401, 403, 404, 429, 503            |
| 156 | PATCH  | /installs/{install_id}/redirects/{redirect_id}             | 200 | 400, 401, 403, 404, 429, 503       |
| 157 | DELETE | /installs/{install_id}/redirects/{redirect_id}             | 202 | 401, 403, 404, 429, 503            |
| 158 | GET    | /installs/{install_id}/cache_rules                         | 200 | 401, 403, 404, 429, 503            |
| 159 | PATCH  | /installs/{install_id}/cache_rules                         | 200 | 400, 401, 403, 404, 429, 503       |
| 160| POST   | /installs/{install_id}/imports                              | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 161| POST   | /installs/{install_id}/staging                              | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 162| POST   | /installs/{install_id}/push                                 | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 163| POST   | /installs/{install_id}/import_key                           | 201 | 401, 403, 404, 409, 429, 503       |
| 170| POST   | /installs/{install_id}/wordpress/changes                    | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 171| POST   | /installs/{install_id}/wordpress/installations              | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 175| POST   | /installs/{install_id}/database/login_links                 | 201 | 401, 403, 404, 409, 429, 502, 503  |
| 176| DELETE | /installs/{install_id}/import_key                           | 204 | 401, 403, 404, 429, 503            |
| 177| POST   | /installs/{install_id}/import_key/renewal                   | 201 | 401, 403, 404, 409, 429, 503       |
| 183| GET    | /user/notifications                                         | 200 | 400, 401, 429, 503                 |
| 184| PATCH  | /user/notifications/{notification_id}                       | 200 | 400, 401, 403, 404, 409, 429, 503  |
| 185| POST   | /user/notifications/read_all                                | 200 | 401, 403, 429, 503                 |
| 186| GET    | /user/notification_preferences                              | 200 | 401, 429, 503                      |
| 187| PATCH  | /user/notification_preferences                              | 200 | 400, 401, 403, 429, 503            |
| 189| GET    | /accounts/{account_id}/tags                                 | 200 | 401, 403, 404, 429, 503            |
| 190| POST   | /accounts/{account_id}/tags/change                          | 200 | 400, 401, 403, 404, 429, 503       |
| 191| POST   | /accounts/{account_id}/tags/rename                          | 200 | 400, 401, 403, 404, 429, 503       |
| 192| POST   | /accounts/{account_id}/tags/remove                          | 200 | 400, 401, 403, 404, 429, 503       |
| 195| GET    | /installs/{install_id}/uptime                               | 200 | 401, 403, 404, 429, 503            |
| 196| GET    | /installs/{install_id}/incidents                            | 200 | 400, 401, 403, 404, 429, 503       |
| 197| GET    | /accounts/{account_id}/incidents                            | 200 | 400, 401, 403, 404, 429, 503       |
| 200| GET    | /installs/{install_id}/backups/{backup_id}/files            | 200 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 201| GET    | /installs/{install_id}/backups/{backup_id}/tables           | 200 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 202| POST   | /installs/{install_id}/backups/{backup_id}/file_links       | 201 | 400, 401, 403, 404, 409, 429, 502, 503 |
| 205| GET    | /installs/{install_id}/move                                 | 200 | 401, 403, 404, 429, 503            |
| 206| POST   | /installs/{install_id}/move                                 | 202 | 400, 401, 403, 404, 409, 429, 503  |
| 207| POST   | /installs/{install_id}/move/return                          | 202 | 401, 403, 404, 409, 429, 503       |
`;

/** Endpoints that read a body: all that POST or PATCH, but these. */
const POST_WITHOUT_BODY = [53, 30, 40, 66, 67, 72, 91, 108, 109, 115, 128, 143, 163, 175, 177, 185, 207];
/** "Endpoints 3, 10, 15, 24, 37 accept the query parameters limit and offset" (specification, Endpoints). */
const PAGED = [
  3, 10, 15, 24, 37, 41, 44, 50, 71, 90, 92, 96, 99, 101, 106, 120, 129, 152, 183, 196, 197, 200, 201,
];
const PUBLIC = [1, 2];
/** Changes that ignore `Idempotency-Key`. */
const REPEATABLE = [110, 175, 202];

export const ENDPOINTS: EndpointRow[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [number = '', method = '', path = '', success, others = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return {
      number: Number(number),
      method,
      path,
      success: Number(success),
      others: others.split(', ').map(Number),
      isPublic: PUBLIC.includes(Number(number)),
      hasBody: ['POST', 'PATCH'].includes(method) && !POST_WITHOUT_BODY.includes(Number(number)),
      isPaged: PAGED.includes(Number(number)),
    };
  });

/** GETs without an entity tag: lists, and answers without authentication. */
const WITHOUT_TAG = [...PAGED, ...PUBLIC];

const isTagged = ({ method, number }: EndpointRow) => method === 'GET' && !WITHOUT_TAG.includes(number);

/** The statuses that the request headers of docs/api.md, Conditional requests and Idempotent requests, add to a row. */
export function statusesOfHeaders(row: EndpointRow): number[] {
  if (row.method === 'GET') return isTagged(row) ? [304] : [];
  if (REPEATABLE.includes(row.number)) return [];
  const isConditional =
    row.method !== 'POST' && ENDPOINTS.some((other) => other.path === row.path && isTagged(other));
  return isConditional ? [412, 422] : [422];
}

/** `17 GET /installs/{install_id}` */
export function nameOf({ number, method, path }: EndpointRow): string {
  return `${number} ${method} ${path}`;
}

/** The names of the identifiers in a row's path, first to last. */
export function idsOf({ path }: EndpointRow): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

/** The first of `wanted` that the row lists: "the best listed status" (docs/api.md, Requests and responses). */
export function bestStatus(row: EndpointRow, wanted: number[]): number {
  const status = wanted.find((candidate) => row.others.includes(candidate));
  if (status === undefined) throw new Error(`${nameOf(row)} lists none of ${wanted.join(', ')}`);
  return status;
}

export const HIDDEN = [404, 403, 400];
export const REFUSED = [403, 404, 400];
export const MALFORMED = [400, 404, 403];

/** The messages for objects that the caller may not see or change. */
export const MESSAGES: Record<number, string> = {
  400: 'Bad request - invalid parameters',
  403: 'Insufficient permissions to access this resource',
  404: 'Resource not found',
};
