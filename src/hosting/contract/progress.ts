/**
 * Reports the bytes that are done, in every part of the contract. `total`: null if unknown. `step`: of work that has several. Called often,
 * and must not throw.
 */
export type ReportProgress = (done: number, total: number | null, step?: string) => void;
