/** The place that the panel stands in, for views deep in the tree. */
import { createContext } from 'preact';
import type { Host } from '../host';

export const HostContext = createContext<Host>({ kind: 'cell', language: 'en' });
