// Package report renders figures: tables for terminals and spreadsheets,
// plots as SVG and PNG, a page to read, files that are there whole or not at
// all, and a progress bar. It knows nothing of jobs or policies beyond numbers with
// names. It is part of the examples and carries no compatibility promise.
//
//	Table                        a table, as text or CSV
//	Steps Distribution Lines     plots of named series
//	Gantt Layout                 who ran where and when
//	Save WriteSVG WritePNG       a plot to files or a writer
//	Page                         all of it for a reader, as one HTML file
//	WriteFile                    any file, atomically
//	Progress                     how far along, on a terminal only
//
// A plot is a *plot.Plot of gonum.org/v1/plot, ready to be saved and open to
// changes before that. What cannot be drawn (NaN, infinities) is an error
// that says where it is; a plot of nothing says "no data". Equal input gives
// equal bytes. Functions do not write to their arguments and may be called
// concurrently.
package report
