import { createContext } from 'react';

/** The dialog around a form. */
interface DialogContext {
  close(): void;
  /** Moves the focus into a form that loaded after the dialog opened, unless the user has moved it elsewhere. */
  begin?(form: HTMLFormElement): void;
  /** Keeps the dialog open on Escape until the returned function is called. */
  hold(): () => void;
}

export const DialogContext = createContext<DialogContext | null>(null);
