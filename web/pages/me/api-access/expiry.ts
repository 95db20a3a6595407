import { DAY_MS } from '../../../components/formatted-time.ts';

export const EXPIRIES = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'On a date' },
] as const;

/** Returns the expiry time for a choice; null for never. `date` is the last valid day in the user's time zone. */
export function expiryOf(choice: string, date: string, now: Date): string | null {
  if (choice === 'never') return null;
  if (choice === 'date') return new Date(`${date}T23:59:59`).toISOString();
  return new Date(now.getTime() + Number(choice) * DAY_MS).toISOString();
}
