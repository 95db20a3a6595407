import { DAY_MS } from '../../../components/time.tsx';

export const EXPIRIES = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'At the end of a day' },
] as const;

/** When a credential ends by what was chosen, as the server takes it; `date` is the last day on which it works, where the person is. */
export function expiryOf(choice: string, date: string, now: Date): string | null {
  if (choice === 'never') return null;
  if (choice === 'date') return new Date(`${date}T23:59:59`).toISOString();
  return new Date(now.getTime() + Number(choice) * DAY_MS).toISOString();
}
