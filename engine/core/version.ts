/** The version of the package this code is part of. */
export const version = '0.1.0'
