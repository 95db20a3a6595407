import type { Install } from '../../api/installs.ts';
import type { Tone } from '../../components/notice.tsx';

/** The state of a website in a word. */
export const INSTALL_STATES: Record<Install['status'], { word: string; tone: Tone }> = {
  pending: { word: 'being made', tone: 'busy' },
  active: { word: 'active', tone: 'good' },
  failed: { word: 'failed', tone: 'bad' },
};
