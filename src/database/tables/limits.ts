/** When an operation limited per install is allowed again. */
export interface InstallLimitRow {
  install_id: string;
  operation: string;
  next_at: string;
}

/** Requests allotted to processes in the current window of one key (api/rate-limiter.ts). */
export interface RateWindowRow {
  key: string;
  window_start: string;
  taken: number;
}
