/** When an operation that is limited for each install may be asked for again. */
export interface InstallLimitRow {
  install_id: string;
  operation: string;
  next_at: string;
}

/** Requests handed out to the processes in the present window of one key (api/rate-limiter.ts). */
export interface RateWindowRow {
  key: string;
  window_start: string;
  taken: number;
}
